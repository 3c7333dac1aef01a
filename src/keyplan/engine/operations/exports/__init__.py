"""Exports of a table to S3.

An export is a job in two phases. First the table as of its moment is collected in an SQLite table beside the others, as
for a backup: all items for a full export, and for an incremental one the items that changed, with what they were before
(`collecting`). Then this collection, which nobody changes, is written as files of a bounded size, and at last the
manifests (`files`; the request's filter is in `filters`). A file is written completely before the job notes it, and its
content follows from the collection, so that after a restart the export continues with the file that was in progress.

`export_requests` has the operations; the files are written by `background/exporting.py`, outside of transactions.
"""
