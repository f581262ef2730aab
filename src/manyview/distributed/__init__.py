"""One fit over several processes of torch.distributed: the group, blocks of rows, exchanges."""
