"""Evidence in prose: what a document about a dataset shows for the ten ethical criteria, by the codebook.

`proposals.propose_claims` is the entry point. It reads the passages of the document (`passages`), splits them into
sentences (`sentences`), drops what states nothing (`placeholders`), looks for cues (`people_rules`,
`stewardship_rules`, `origin_rules`, `contacts`), asks whether a cue is asserted of this dataset (`statements`), and
decides one value for each criterion (`decision`).
"""
