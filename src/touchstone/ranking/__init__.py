"""Filter, score, sort and explain the datasets of a catalog, entirely in memory: no web, no SQL.

A catalog is ranked by a weighted mean of twelve criteria. `criteria` lists them, `criterion_formulas` computes them
(the technical score, for example), `weighted_mean` adds them up, and `weight_profiles` holds ready-made weights.

With a few thousand records it is enough to score every record. With ten million that takes too long for somebody who
moves a slider, so most records of a large catalog stand behind an index that finds the best ones without looking at the
rest. The answer is always exact: the same records in the same order, to the last bit of every score.

**Records as columns** (`columns/`). A *segment* holds records column by column: numbers as floats, flags as small
integers, and texts as *codes* into a *vocabulary* of distinct values, so that a text is compared once for each value
and not once for each record. A record is known by its *position*, its place in these columns.

**Queries** (`query/`). A query is a conjunction of *predicates*. The same predicates are evaluated over a segment and
translated for an index; a *facet* counts the values among the records that match.

**The index** (`index/`). The records are reordered so that similar ones lie together (a k-d order), and cut into
*leaves* of about a thousand records. Every array of the index follows this order.

- A *grade* is a criterion in one byte, rounded up. It is never below the criterion and is read instead of it where a
  rough value is enough.
- The *bound* of a leaf is the score that a record with the leaf's best value of every criterion would have. No record
  of the leaf scores higher. Leaves are visited in the order of their bounds, and the search ends at the first leaf
  whose bound cannot reach the worst record of the best ones so far.
- A *block* is 64 neighbours of a leaf, which are still more similar. Within a leaf that is visited, blocks are skipped
  by bounds of their own, made of the highest grades of their records.
- A *plane* is a bitmap with one bit for each record: "is_split is true", "the domain contains health", "the year is at
  least 2015". The index also knows how many bits of a plane each leaf has, so most leaves are accepted or ruled out
  without reading a bit.
- A *clause* is what a predicate becomes: the union of some planes, or the complement of one. A predicate without
  planes of its own becomes a *code range* (checked record by record), a *name substring* (bytes that a name must
  contain; *trigram signatures* tell in which leaves they can occur), or a plane made by one scan and kept.
- The columns hold what is known at the *assurance* `declared`. What is known above it stands beside them, for the
  records with evidence only; an index has planes, grades, codes and bounds of its own for each assurance, over the same
  records in the same order.
- A *permutation* lists all positions in the order of one column, and its *beginning* the first ones only. A sorted list
  walks along it and takes what matches; where matches are rare, they are sorted instead (`catalog/sorted_pages.py`).
- *Tables* give the criterion for every code of a number column, so scoring a record is a handful of look-ups.

**Words** (`text/`). A search by words is one more predicate. A segment lists the words of each record, and the index
lists the records of each word (`index/word_index.py`); a search becomes a plane like that of any other scan. Relevance
is BM25.

**Kernels** (`kernels/`). The inner loops over leaves and records. They are plain Python that Numba compiles when a
catalog first becomes large enough; they never allocate. `kernels.constants` numbers criteria and flags for them.

**The catalog** (`catalog/`). Writes never change an index. Deleted records are masked out, and new or changed records
stand beside the index in the *tail*, a segment that every query scans. A `View` merges both answers; it never changes,
so any thread may read it. Once the tail or the mask grows too large, a new index is built in a thread and swapped in.

**Reasons** (`reasons/`). Why a record has its rank: the points that add up to its score, in which criteria it is ahead
of another record, and how stable its rank is when weights or unknown values change. A *lift* tells how far a record
would rise if one attribute that is unknown or unfavourable were established to have its best value.

Imports follow the order formulas, criteria, kernels, text, columns, query, index, catalog, reasons. The slow twin of
all this, one record at a time in plain Python, is `tests/ranking/by_hand.py`; random tests compare both bit for bit.
"""
