"""The researcher's pages, one module for each tab. Each view makes one domain call and shows its outcome."""
