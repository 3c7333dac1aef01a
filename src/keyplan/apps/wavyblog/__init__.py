"""WavyBlog: a blog with several authors, in one table.

Everyone reads published posts, authors write posts and drafts, and admins manage users and categories. What makes it
hard on DynamoDB: unique e-mail addresses and slugs, posts that are renamed, and drafts that are in the same indexes as
published posts.
"""
