"""The blocks of MGCN-DNS, one file each; every graph is one weight an edge of a support."""
