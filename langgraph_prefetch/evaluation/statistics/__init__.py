"""Statistics of paired and unpaired runs: numbers in, estimates with intervals out.

`describe` one sample · `ratios`, `shifts` how much the second differs from the first · `two_samples`, `paired`,
`groups` whether it does · `equivalence`, `equal_shares` whether it is as good within a margin · `proportions` shares
and how a split was drawn · `corrections` many tests at once · `power` how many runs it takes · `calibration`
probabilities against what happened. Everywhere the *second* is compared with the *first*.
"""
