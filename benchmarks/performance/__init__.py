"""Speed, memory and growth of MGCN-DNS and its peers: one module per benchmark."""
