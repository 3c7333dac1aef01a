"""WavyBlog: a blog with several authors, in one table.

Everybody reads what is published; authors write, with drafts of their own; admins look after users and categories.
What makes it hard on DynamoDB: e-mail addresses and slugs that only one may have, posts that are renamed, and drafts
that stand in the same indexes as what the public sees.
"""
