"""The methods that MGCN-DNS is compared with, one a file."""
