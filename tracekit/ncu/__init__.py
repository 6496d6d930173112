"""What Nsight Compute's exports are made of, for the parser `nsight_compute`."""
