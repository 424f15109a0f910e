"""Full-text search: matching records, their relevance, and suggestions while a user types.

A record matches a query if it contains every word of the query, in any order, in its name, objective, description,
tags, domains or tasks. Whether two words match depends only on the two words (`word_forms`), never on the rest of the
catalog. A match therefore reveals nothing about records that the caller may not see.

A segment lists the words of each record (`record_words`). The index of a large catalog lists the records of each word
(`word_index`). Both find the records that contain a `QueryWord`, and `relevance` computes BM25 scores from the results.
"""
