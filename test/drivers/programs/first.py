"""Runs what clients/python/README.md shows; "first.py" puts it in."""
# BLOCK

# What the block's "if" asks.
known = 42 in customers
print("%s %s" % (known, found))
