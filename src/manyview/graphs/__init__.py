"""Views in, graphs on one shared support out."""
