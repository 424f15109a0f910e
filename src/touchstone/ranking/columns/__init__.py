"""Records stored column by column, and encodings of values such as vocabularies, text pools and bitmaps."""
