"""Filter, score, sort and explain the datasets of a catalog, entirely in memory: no web, no SQL.

A catalog is ranked by a weighted mean of twelve criteria. `criteria` lists them, `criterion_formulas` computes them
(the technical score, for example), `weighted_mean` adds them up, and `weight_profiles` holds ready-made weights.

A few thousand records are scored one by one. For ten million records, that would be too slow for a user who moves a
slider, so most records of a large catalog are in an index that finds the best records without reading the rest. The
result is always exact: the same records in the same order, with the same scores to the last bit.

**Records as columns** (`columns/`). A *segment* stores records column by column: numbers as floats, flags as small
integers, and texts as *codes* for the distinct values in a *vocabulary*, so that a predicate is evaluated once for each
distinct text rather than for each record. A record is identified by its *position*, the array index in these columns.

**Queries** (`query/`). A query is a conjunction of *predicates*. The same predicates are evaluated over a segment and
translated for an index; a *facet* counts the values among the records that match.

**The index** (`index/`). The records are reordered so that similar records are next to each other (a k-d order), and
divided into *leaves* of about a thousand records. Every array of the index follows this order.

- A *grade* is a criterion in one byte, rounded up. It is an upper bound of the criterion and is read where an
  approximate value is sufficient.
- The *bound* of a leaf is the score of a hypothetical record with the best value of every criterion in the leaf. No
  record of the leaf scores higher. A search visits leaves in descending order of their bounds, and ends at the first
  leaf with a bound below the worst of the best records found so far.
- A *block* consists of 64 even more similar records of a leaf. Within a visited leaf, blocks are skipped by their own
  bounds, computed from the highest grades of their records.
- A *plane* is a bitmap with one bit for each record, for example "is_split is true", "the domain contains health" or
  "the year is at least 2015". The index also has the number of bits in each leaf of a plane, so most leaves are
  accepted or ruled out without reading a bit.
- A *clause* is a translated predicate: the union of planes, or the complement of one plane. A predicate without planes
  becomes a *code range* (checked record by record), a *name substring* (bytes that a name must contain; *trigram
  signatures* rule out most leaves), or a plane that is computed by a scan and cached.
- The main columns contain the values known at the *assurance* `declared`. Additional columns contain the values known
  at each assurance above it, for the records with evidence only. At each assurance, an index has different planes,
  grades, codes and bounds over the same records in the same order.
- A *permutation* lists all positions in the order of one column; its *beginning* lists only the first ones. A sorted
  list follows the permutation and selects the matches. If there are few matches, they are sorted instead
  (`catalog/sorted_pages.py`).
- *Tables* contain the criterion for every code of a number column, so scoring a record takes only a few look-ups.

**Words** (`text/`). A full-text search is another predicate. A segment lists the words of each record, and the index
lists the records of each word (`index/word_index.py`). Relevance is BM25.

**Kernels** (`kernels/`). The inner loops over leaves and records. They are plain Python functions that never allocate
memory; Numba compiles them when a catalog first becomes large enough. `kernels.constants` numbers criteria and flags
for them.

**The catalog** (`catalog/`). Writes never change an index. Deleted records are masked out, and new or changed records
are appended to the *tail*, a segment that every query scans. A `View` merges the results of both; it is immutable, so
any thread may read it. When the tail or the mask becomes too large, a new index is built in a thread and swapped in.

**Reasons** (`reasons/`). Explanations of a record's rank: the points that add up to its score, its advantages over
another record, and the stability of its rank when weights or unknown values change. A *lift* is the improvement of a
record if one unknown or unfavourable attribute were verified to have its best value.

Imports follow the order formulas, criteria, kernels, text, columns, query, index, catalog, reasons. A slow reference
implementation in plain Python, one record at a time, is in `tests/ranking/by_hand.py`. Property tests compare it with
this package bit for bit.
"""
