"""What the installed xprof (tensorboard-plugin-profile) knows about an XSpace."""
