"""A construction that brings words, classes and frames of its own, in one file."""

HANDOVER = """\
name: handover
title: Handover
form: "NP[agent] V NP[recipient] NP[theme]"
meaning: The agent causes the recipient to have the theme.
schematicity: 9
sources: ["Goldberg 1995, Constructions, ch. 6"]
no_lookalike: a test

predicates:
  has: {gloss: "x came to have y"}
  idea: {gloss: "x thought of it without being told"}

slots:
  agent: {role: agent, class: names}
  verb: {role: verb, frame: true, carries: true}
  recipient: {role: recipient, class: everyday-people, distinct: [agent]}
  theme: {role: theme, frame: true, carries: true}
  other: {role: theme, frame: true, distinct: [theme]}

kinds:
  gave:
    gloss: the recipient gets it
    bind: {verb: verb, did: "went ahead and {verb:past}", what: "{theme} instead of {other}"}
    entails: ["has(recipient, theme)"]
    excludes: ["has(recipient, other)"]
  gave-other:
    gloss: the recipient gets something else
    bind: {verb: verb, did: "went ahead and {verb:past}", what: "{other} instead of {theme}"}
    entails: ["has(recipient, other)"]
    excludes: ["has(recipient, theme)"]
  offered:
    gloss: the agent volunteers
    bind: {verb: verb, did: "spontaneously offered to {verb:base}", what: "{theme} instead of {other}"}
    entails: ["idea(agent)"]
  asked:
    gloss: the agent is asked
    bind: {verb: verb, did: "received instructions to {verb:base}", what: "{theme} instead of {other}"}
    excludes: ["idea(agent)"]

templates:
  plain: "{agent} {@did} {recipient} {@what}."

hypotheses:
  has: {claim: "has(recipient, theme)", wordings: ["After that, {recipient} had {theme}."]}
  has-not: {claim: "not has(recipient, theme)", wordings: ["After that, {recipient} did not have {theme}."]}
  own-idea: {claim: idea(agent), wordings: ["The idea came from {agent}."]}
  others-idea: {claim: not idea(agent), wordings: ["The idea came from somebody other than {agent}."]}

designs:
  transfer: {kinds: [gave, gave-other, offered, asked], hypotheses: [has, has-not, own-idea, others-idea]}

classes:
  giving:
    pos: verb
    gloss: handing something over
    members:
      - {lemma: disburse, sense: "disburse%2:40:00::"}
      - {lemma: lend}
      - {lemma: send, pos: verb}
      - {lemma: sell}
      - {lemma: feed, past: fed, participle: fed}
      - {lemma: mail}
      - {lemma: award}
      - {lemma: lease}
      - {lemma: quitclaim}
      - {lemma: zorb}
  presents:
    pos: noun
    gloss: what is given
    members: ["crate%1:06:00::", {lemma: hourglass}, {lemma: foliage}, {lemma: umbrella stand}]

frames:
  - name: giving
    design: transfer
    slots: {verb: giving, theme: presents, other: [presents, {lemma: doodad, pos: noun}]}
    marked: ["own:verb:zorb"]
"""
NEW_VERBS = {"disburse", "lend", "send", "sell", "feed", "mail", "award", "lease", "quitclaim", "zorb"}
