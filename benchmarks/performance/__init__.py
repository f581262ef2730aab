"""Speed, memory and growth of MGCN-DNS beside its peers: one module a benchmark."""
