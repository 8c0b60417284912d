"""Every certificate once more in plain Python, from its definition: slow and obvious."""

from functools import cache

Q = 127


def vote(scores):
    return max(range(len(scores)), key=lambda y: (scores[y], -y))


def vote_counts(row):
    votes = [vote(scores) for scores in row]
    return [votes.count(y) for y in range(len(row[0]))]


def ranked(counts):
    return sorted(range(len(counts)), key=lambda y: (-counts[y], y))


def plurality(row):
    counts = vote_counts(row)
    y, z = ranked(counts)[:2]
    return y, (counts[y] - counts[z] - (z < y)) // 2, z


def duel(row, y, z):
    return sum((scores[y] > scores[z]) - (scores[y] < scores[z]) for scores in row) - (z < y)


@cache
def dp(a, b):
    if max(a, b) <= 1 and (a, b) != (1, 1):
        return 0
    return 1 + min(dp(a - 2, b - 1), dp(a - 1, b - 2))


def runoff(row):
    counts = vote_counts(row)
    y, w = ranked(counts)[:2]
    if duel(row, y, w) < 0:
        y, w = w, y

    def gap(a, b):
        return 0 if a == b else counts[a] - counts[b] - (b < a)

    opponents = [z for z in range(len(counts)) if z != y]
    radius = min(max(gap(w, z) // 2, duel(row, y, z) // 2) for z in opponents)
    for z in opponents:
        for other in opponents:
            if z != other:
                radius = min(radius, dp(gap(y, z), gap(y, other)))
    return y, radius, w


def duel_vote(scores, y, z, margin):
    difference = float(scores[y]) - float(scores[z])
    if margin == 0:
        return (difference > 0) - (difference < 0)
    return round(Q * max(-1.0, min(1.0, difference / margin)))


def tournament(row, margin, head_start=None):
    labels = range(len(row[0]))
    head_start = head_start or [0] * len(labels)
    votes = {
        (y, z): [duel_vote(scores, y, z, margin) for scores in row]
        for y in labels
        for z in labels
        if y != z
    }
    gaps = {(y, z): head_start[y] - head_start[z] + sum(votes[y, z]) for y, z in votes}
    y = max(labels, key=lambda y: (min(gaps[y, z] for z in labels if z != y), -y))
    found = []
    for z in labels:
        if z != y:
            budget = gaps[y, z] - (z < y)
            losses = sorted((s + (Q if margin else 1) for s in votes[y, z]), reverse=True)
            radius = (
                next((r for r in range(len(losses)) if sum(losses[: r + 1]) > budget), len(losses))
                if budget >= 0
                else -1
            )
            found.append((radius, budget, z))
    radius, _, runner_up = min(found)
    return y, max(radius, 0), runner_up


def topk(row, label, k):
    """The paper's greedy attack: move one vote at a time to the label ranked k + 1."""
    counts = vote_counts(row)
    if k >= len(counts):
        return len(row)
    radius = -1
    while label in ranked(counts)[:k]:
        if radius == len(row) - 1:
            return len(row)
        gains = ranked(counts)[k]
        loses = label if counts[label] > 0 else ranked(counts)[0]
        counts[loses] -= 1
        counts[gains] += 1
        radius += 1
    return radius
