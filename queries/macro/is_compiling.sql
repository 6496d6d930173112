-- purpose = "Whether a slice of the host compiles kernels or loads compiled ones, by its name."
-- source = "torch._dynamo: dynamo_timed; PJRT: Compile; CUDA driver API: cuModuleLoad…,
-- cuLibraryLoad…; HIP: hipModuleLoad…; CANN: opCompile"
-- parameters = "slice_name"
-- slice_name = "VARCHAR: name of the annotation, operator or call"
contains(slice_name, '(dynamo_timed)')
or contains(slice_name, 'backend_compile')
or contains(slice_name, 'Client::Compile')
or contains(slice_name, 'opCompile')
or regexp_matches(slice_name, '^(cuModuleLoad|cuLibraryLoad|hipModuleLoad)')
