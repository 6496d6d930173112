-- purpose = "Whether an annotation or operator of the host is the loading of data, told by its name."
-- source = "torch.utils.data: enumerate(DataLoader)#…__next__; TorchRec's train pipeline: data_load, wait_for_batch, copy_batch"
-- [parameters]
-- slice_name = {type = "VARCHAR", doc = "name of the annotation or operator"}
regexp_matches(slice_name, '(?i)enumerate\(DataLoader\)|DataLoaderIter|data_?load|wait_for_batch|next_batch')
