"""The blocks of MGCN-DNS, one file each; a graph is one weight per edge of a support."""
