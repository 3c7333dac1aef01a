"""What people see: pages made on the server.

`pages` declares and serves them (`Pages`), `views` is what a function that makes one gets (`View`), `forms` reads what
was typed (`Form`), `rendering` has templates, addresses and headers (`Site`), `language` the words (`Language`),
`signin` the kit's own sign-in (`Person`), `reference` the pages about an API. It knows all folders but `server`.
"""
