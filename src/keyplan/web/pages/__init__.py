"""Serves the pages that a system declares, made on the server.

`mounting` makes one application of the pages of all systems, `serving` answers requests, `views` is what a function
that makes a page gets (`View`), `forms` has what a form shows (`Form`), with its limits as `attributes` of HTML and
with what is `newer` than what it showed, and `reading` reads what was entered, in the words of `messages` where it
isn't valid; `sent_forms` knows which form came with a request, and `kept` keeps those whose session has ended;
`asking` asks before what can't be undone. `rendering` has templates, addresses and headers (`Site`), `isolation`
isolates texts of another direction in them, `headings` fits the headings of texts into a page, `zones` shows and
reads times in time zones, `zone_choice` lets people choose one, `bodies` makes the bodies of services from forms with
other fields, `uploading` ends an upload, `signin` is the kit's own sign-in, `reference` has the pages about an API,
and `ready` sends pages that were made elsewhere, such as the documents of designs.
`editors` makes the pages to look after a kind of thing (`Editor`), with the kinds of fields in `inputs`. It knows all
folders but `server`.
"""
