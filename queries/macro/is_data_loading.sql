-- purpose = "Whether a host annotation or operator loads data, by its name: attribution uses this
-- for the phase data."
-- source = "torch.utils.data: enumerate(DataLoader)#…; TorchRec's train pipeline: data_load,
-- wait_for_batch"
-- parameters = "slice_name"
-- slice_name = "VARCHAR: name of the annotation or operator"
starts_with(slice_name, 'enumerate(Data')
or contains(slice_name, 'data_load')
or contains(slice_name, 'wait_for_batch')
