"""The MGCN-DNS network: its inputs, its training, and its use on new samples."""
