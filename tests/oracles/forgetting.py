"""The faded confusion matrix and its scores, cell by cell and label by label."""

from __future__ import annotations


def matrix(truth: list[int], prediction: list[int], labels: int, alpha: float) -> list[list[float]]:
    """``C_t = alpha C_{t-1} + [truth, prediction]``; 255 in the truth is no record."""
    cells = [[0.0] * labels for _ in range(labels)]
    for t, p in zip(truth, prediction, strict=True):
        if t == 255:
            continue
        cells = [[alpha * cell for cell in row] for row in cells]
        cells[t][p] += 1
    return cells


def recall(cells: list[list[float]], label: int, floor: float) -> float | None:
    """Hits of the label over its row."""
    true = sum(cells[label])
    return cells[label][label] / true if true >= floor else None


def precision(cells: list[list[float]], label: int, floor: float) -> float | None:
    """Hits of the label over its column; 0 for a label that only the truth has."""
    predicted = sum(row[label] for row in cells)
    if predicted >= floor:
        return cells[label][label] / predicted
    return 0.0 if sum(cells[label]) >= floor else None


def mean(values: list[float | None]) -> float | None:
    """Mean of the values that there are."""
    there = [v for v in values if v is not None]
    return sum(there) / len(there) if there else None


def kappa(cells: list[list[float]]) -> float | None:
    """Cohen's kappa: agreement beyond what the marginals give by chance."""
    total = sum(map(sum, cells))
    if total == 0:
        return None
    agreed = sum(cells[i][i] for i in range(len(cells))) / total
    chance = sum(sum(cells[i]) * sum(row[i] for row in cells) / total / total for i in range(len(cells)))
    return None if 1 - chance <= 1e-12 else (agreed - chance) / (1 - chance)
