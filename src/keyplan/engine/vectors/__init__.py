"""Vector search: the entries of vector indexes, and the exact nearest neighbors of a vector among them.

The item stays the truth. A vector index has one SQLite table with an entry for each of its items: the number of the
item's row, the vector as packed 32-bit floats, and the values that a search can be limited by, as JSON. An entry is
written in the transaction that writes its item (`entries` makes it, and refuses vectors that AWS refuses), beside a
record in the log of the index, which is a second SQLite table with the rows whose entries have changed.

A search compares its vector with every entry that meets its condition; nothing is approximated in the result. It works
on arrays: `matrix` is an index in memory. The matrices of a database share a budget (`memory`). The first search makes
one, and each later search brings it up to date with the log: only entries that have changed since are read again,
whichever process has changed them. So a search sees every commit that came before it, and writes do no work for it. A
matrix that has missed more changes than the log remembers is read again. What doesn't fit into the budget isn't held:
its searches read all entries from the file each time, block by block, which takes longer and finds the same. Matrices
are dropped, the one that was used longest ago first, when another one needs the room, or when the machine or the
container runs out of memory.

A search takes no lock of the storage while it computes. It reads what has changed (a short read), computes, and reads
the items that it has found (a short read). If one of them was changed in between, it starts over. Searches of one index
that arrive at the same time are computed together, because reading the matrix takes longer than multiplying it.

`scores` has the arithmetic. Products of 32-bit floats find candidates: all entries whose score could be among the best,
given how far such a product can be off. Their scores are then computed with 64-bit floats. So scores don't depend on
the order of the entries or on the processor, and huge, tiny and zero vectors have the right ones.

NumPy does the arithmetic (extra `vectors`; `extra` says so where it is missing). Only `scores`, `matrix` and `reading`
import it, and nothing imports them before a search: the rest, including writes to tables with vector indexes, works
without it. The package knows storage, values and errors; it doesn't know requests.

The other modules are `queries`, what to search for and what was found; `source`, an index as a search reads it;
`reading`, which reads entries and items; and `pressure`, how much memory is free. The main types are `Entry`, `Query`,
`Found`, `Source`, `Matrix` and `VectorMemory`.
"""
