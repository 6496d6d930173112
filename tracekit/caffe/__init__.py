"""What `caffe time` logs: its lines, and the nets that they belong to."""
