"""Records laid out column by column, and the encodings of their values: vocabularies, text pools and bitmaps."""
