"""The table of songs in AWS's introduction (Developer Guide: "Getting started with DynamoDB")."""

from typing import Annotated

from keyplan.design import Design, Entity, Get, Query, Table, get, key, pattern, query, stored

music = Table(
    "Music", key("Artist", "SongTitle"), indexes={"GenreAlbumTitle": key("Genre", "AlbumTitle")}, case="pascal"
)


class Song(Entity, table=music):
    artist: str
    song_title: str
    album_title: Annotated[str, stored("AlbumTitle")]
    genre: Annotated[str, stored("Genre")]
    year: int

    primary = key("{artist}", "{song_title}")
    by_genre = music.GenreAlbumTitle("{genre}", "{album_title}")


class Music(Design):
    tables = (music,)
    entities = (Song,)

    @pattern("Get a song")
    def song(self, artist: str, song_title: str) -> Get[Song]:
        return get(Song, artist=artist, song_title=song_title)

    @pattern("Songs of an artist")
    def songs(self, artist: str) -> Query[Song]:
        return query(Song.primary, artist=artist)

    @pattern("Songs of a genre, by album")
    def songs_of_genre(self, genre: str) -> Query[Song]:
        return query(Song.by_genre, genre=genre)
