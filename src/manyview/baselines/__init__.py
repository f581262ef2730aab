"""The methods that MGCN-DNS is compared with, one public module per method."""
