"""Search by words: which records contain all words of a text, how relevant they are, and what a reader may be typing.

A record matches a text if it contains every word of the text, in any order, in its name, objective, description, tags,
domains or tasks. What makes two words the same is decided by `word_forms` for the pair of words alone, never by what
else the catalog contains. So the answer for one record does not depend on other records, and nobody learns anything
about records that they may not see.

A segment lists the words of each record (`record_words`). The index of a large catalog lists the records of each word
(`word_index`). Both answer the same questions about a `QueryWord`, and `relevance` computes BM25 from their answers.
"""
