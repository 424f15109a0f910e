"""Extraction of evidence for the ten ethical criteria from prose, by the rules of the codebook.

`proposals.propose_claims` is the entry point. It reads the passages of the document (`passages`), splits them into
sentences (`sentences`), drops uninformative ones (`uninformative_sentences`), searches for cues (`people_rules`,
`stewardship_rules`, `origin_rules`, `contacts`), checks that a cue is asserted of this dataset
(`negations_and_plans`), and decides on one value for each criterion (`decision`).
"""
