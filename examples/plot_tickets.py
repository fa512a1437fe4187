"""
Tickets by topic
================

Short messages to a help desk about four topics, written in many ways. Nobody has a list of topics;
people only say of two messages whether they are about the same thing, and one answer in five is
wrong. :class:`noisypairs.encoders.Words` turns text into numbers without anything pretrained.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from noisypairs import JointPairClassifier, PairingNoise, sample_pairs
from noisypairs.encoders import Words
from noisypairs.metrics import accuracy_up_to_names

TOPICS = {
    "invoice": ("the invoice", "my last bill", "a charge on my bill", "the amount you charged"),
    "login": ("my password", "signing in", "the login page", "my locked account"),
    "delivery": ("my parcel", "the delivery date", "a delayed parcel", "the courier"),
    "return": ("returning shoes", "a refund", "sending an item back", "the return label"),
}
BEGIN = ("Hello, a question about", "Please help me with", "I wrote before about", "Problem with")
END = ("", "- it is urgent", "since yesterday", "for the second time", "thanks in advance")

rng = np.random.default_rng(0)
y = rng.integers(4, size=400)
things = [rng.choice(list(TOPICS.values())[k]) for k in y]
texts = [f"{rng.choice(BEGIN)} {thing} {rng.choice(END)}".strip() for thing in things]
print(*texts[:4], sep="\n")

# %%
# Half of the messages are compared, each in eight pairs or so; the others are new.
train, new = np.arange(200), np.arange(200, 400)
words = Words().fit([texts[i] for i in train])
X = normalize(words.transform(texts))
pairs = sample_pairs(y[train], 4 * len(train), PairingNoise(0.2, 0.2), random_state=0)
model = JointPairClassifier(n_classes=4, random_state=0).fit(X[train], pairs)
accuracy = accuracy_up_to_names(y[new], model.predict(X[new]))
print(f"{accuracy:.1%} of {len(new)} new messages are in the right group")

# %%
# The two strongest directions of the numbers, coloured by the group that the answers taught.
place = PCA(2).fit_transform(X[new])
group = model.predict(X[new])
figure, axes = plt.subplots(figsize=(6, 4.4), layout="constrained")
for name in model.classes_:
    rows = group == name
    topic = list(TOPICS)[np.bincount(y[new][rows], minlength=4).argmax()]
    axes.scatter(*place[rows].T, s=18, label=f"group {name}: mostly {topic}")
axes.set(title=f"Four topics from noisy answers: {accuracy:.0%} right", xticks=[], yticks=[])
axes.legend()
plt.show()
