"""What the installed xprof (tensorboard-plugin-profile) knows of an XSpace, asked from outside."""
