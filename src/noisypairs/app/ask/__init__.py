"""A page that asks pairs, one after the other, of one person or many, and learns meanwhile.

`serving` runs it. The server only looks things up in the store; a process of its own (`worker`)
fits the model, chooses the pairs to come and leaves them there.
"""
