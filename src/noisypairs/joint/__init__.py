"""The joint learner: classes, noise and a classifier inferred together.

It reads in the order of a fit: `problem` says what is given, `starts` where EM begins,
`class_model` what features say, `em` the loop, `estimation.heldout` how models are compared, and
`search` which model and which estimator are kept. `choices` has every number that decides. What is
stated about a fit is `noisypairs.assess`; `noisypairs.classifier` puts both together.
"""
