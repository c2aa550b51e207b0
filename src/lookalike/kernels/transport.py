"""The most that supplies can send along edges into capacities, and the most pairs: Dinic's maximum flow on a bipartite
graph.

A first round sends what it can from supplies with few edges; then shortest ways of rerouting are found for what is
left, a whole layer of them at a time. Cost: O(edges) a layer, and few layers in practice.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner


@entry("i8[:], i8[:], i8[:], i8[:], i8[:], i8[:]")
def send_most(supplies, capacities, starts, heads, left_blocks, right_blocks):  # type: ignore[no-untyped-def]
    """How much can be sent. Edges of supply u are starts[u]:starts[u + 1], to heads.

    Block b has the supplies left_blocks[b]:left_blocks[b + 1] and the capacities right_blocks[b]:right_blocks[b + 1];
    no edge leads from one block to another. Small blocks fit into the processor's cache.
    """
    total = np.int64(0)
    for block in range(len(left_blocks) - 1):
        left, right = left_blocks[block], left_blocks[block + 1]
        low, high = right_blocks[block], right_blocks[block + 1]
        first, last = starts[left], starts[right]
        if first < last:
            total += _send_in_block(
                supplies[left:right], capacities[low:high], starts[left : right + 1] - first, heads[first:last] - low
            )
    return total


@inner
def _send_in_block(supplies, capacities, starts, heads):  # type: ignore[no-untyped-def]
    if len(supplies) == 1:
        room = np.int64(0)
        for head in heads:
            room += capacities[head]
        return min(supplies[0], room)
    excess, _ = _flows(supplies, capacities, starts, heads)
    return supplies.sum() - excess.sum()


@entry("i8[:], i4[:], i8")
def partners(starts, heads, n_right):  # type: ignore[no-untyped-def]
    """As many pairs as can be along edges, nobody twice: who each of the left is paired with, or -1."""
    n_left = len(starts) - 1
    _, flow = _flows(np.ones(n_left, dtype=np.int64), np.ones(n_right, dtype=np.int64), starts, heads)
    found = np.full(n_left, -1, dtype=np.int64)
    for left in range(n_left):
        for edge in range(starts[left], starts[left + 1]):
            if flow[edge] > 0:
                found[left] = heads[edge]
    return found


@inner
def _flows(supplies, capacities, starts, heads):  # type: ignore[no-untyped-def]
    """What is left of each supply, and what each edge carries."""
    n_left, n_right = len(supplies), len(capacities)
    excess, room, flow = supplies.copy(), capacities.copy(), np.zeros(len(heads), dtype=np.int64)
    tails = np.empty(len(heads), dtype=np.int32)
    for supply in range(n_left):
        tails[starts[supply] : starts[supply + 1]] = supply
    back_starts = np.zeros(n_right + 1, dtype=np.int64)
    for head in heads:
        back_starts[head + 1] += 1
    back_starts = np.cumsum(back_starts)
    back_edges, at = np.empty(len(heads), dtype=np.int64), back_starts[:-1].copy()
    for edge in range(len(heads)):
        back_edges[at[heads[edge]]] = edge
        at[heads[edge]] += 1
    _send_first(excess, room, flow, starts, heads, tails, back_starts, back_edges)
    level_left, level_right = np.empty(n_left, dtype=np.int32), np.empty(n_right, dtype=np.int32)
    queue, path = np.empty(n_left, dtype=np.int64), np.empty(n_left + n_right, dtype=np.int64)
    while _levels(excess, room, flow, starts, heads, tails, back_starts, back_edges, level_left, level_right, queue):
        next_edge, next_back = starts[:-1].copy(), back_starts[:-1].copy()
        for supply in range(n_left):
            while excess[supply] > 0 and _send_on(
                supply, excess, room, flow, starts, heads, tails, back_starts, back_edges, level_left, level_right,
                next_edge, next_back, path,
            ):  # fmt: skip
                pass
    return excess, flow


@inner
def _send_first(excess, room, flow, starts, heads, tails, back_starts, back_edges):  # type: ignore[no-untyped-def]
    """Send what has no choice, again and again; else what has the fewest edges (Karp and Sipser)."""
    n_left, n_right = len(excess), len(room)
    choices_left, choices_right = np.diff(starts), np.diff(back_starts)
    # Supplies are 0..n_left - 1, capacities follow; each enters the stack once, when one choice is left to it.
    stack, size = np.empty(n_left + n_right, dtype=np.int64), 0
    for node in range(n_left + n_right):
        choices = choices_left[node] if node < n_left else choices_right[node - n_left]
        if choices == 1:
            stack[size] = node
            size += 1
    for supply in np.argsort(choices_left, kind="mergesort"):
        edge = starts[supply]
        while size > 0 or (excess[supply] > 0 and edge < starts[supply + 1]):
            chosen = np.int64(-1)
            if size == 0:
                chosen = edge
                edge += 1
            else:
                size -= 1
                node = stack[size]
                if node < n_left:
                    for one in range(starts[node], starts[node + 1]):
                        if room[heads[one]] > 0:
                            chosen = np.int64(one)
                else:
                    for back in range(back_starts[node - n_left], back_starts[node - n_left + 1]):
                        if excess[tails[back_edges[back]]] > 0:
                            chosen = back_edges[back]
            if chosen < 0:
                continue
            head, tail = np.int64(heads[chosen]), np.int64(tails[chosen])
            amount = min(excess[tail], room[head])
            if amount == 0:
                continue
            flow[chosen] += amount
            excess[tail] -= amount
            room[head] -= amount
            if excess[tail] == 0:
                for one in range(starts[tail], starts[tail + 1]):
                    other = heads[one]
                    choices_right[other] -= 1
                    if choices_right[other] == 1 and room[other] > 0:
                        stack[size] = n_left + other
                        size += 1
            if room[head] == 0:
                for back in range(back_starts[head], back_starts[head + 1]):
                    other = tails[back_edges[back]]
                    choices_left[other] -= 1
                    if choices_left[other] == 1 and excess[other] > 0:
                        stack[size] = other
                        size += 1


@inner
def _levels(excess, room, flow, starts, heads, tails, back_starts, back_edges, level_left, level_right, queue):  # type: ignore[no-untyped-def]
    """Set how far each node is from what is left to send; False if no room can be reached."""
    level_left[:], level_right[:] = -1, -1
    size, found = 0, False
    for supply in range(len(excess)):
        if excess[supply] > 0:
            level_left[supply] = 0
            queue[size] = supply
            size += 1
    place, farthest = 0, np.iinfo(np.int32).max
    while place < size:
        supply = queue[place]
        place += 1
        if level_left[supply] >= farthest:
            break
        for edge in range(starts[supply], starts[supply + 1]):
            head = heads[edge]
            if level_right[head] >= 0:
                continue
            level_right[head] = level_left[supply] + 1
            if room[head] > 0:
                found, farthest = True, level_right[head]
                continue
            for back in range(back_starts[head], back_starts[head + 1]):
                tail = tails[back_edges[back]]
                if flow[back_edges[back]] > 0 and level_left[tail] < 0:
                    level_left[tail] = level_right[head] + 1
                    queue[size] = tail
                    size += 1
    return found


@inner
def _send_on(  # type: ignore[no-untyped-def]
    supply,
    excess,
    room,
    flow,
    starts,
    heads,
    tails,
    back_starts,
    back_edges,
    level_left,
    level_right,
    next_edge,
    next_back,
    path,
):
    """Send something from a supply along edges that lead one level farther; False if nothing can be sent."""
    depth, at = 0, np.int64(supply)
    while True:
        # At a supply: an edge onward.
        while next_edge[at] < starts[at + 1]:
            head = heads[next_edge[at]]
            if level_right[head] == level_left[at] + 1:
                break
            next_edge[at] += 1
        if next_edge[at] == starts[at + 1]:
            level_left[at] = -2
            if depth == 0:
                return False
            # Back to the capacity that led here, which tries its next way.
            depth -= 1
            head = heads[path[depth]]
            next_back[head] += 1
            depth -= 1
            edge = path[depth]
            at = np.int64(tails[edge])
        path[depth] = next_edge[at]
        depth += 1
        head = heads[next_edge[at]]
        if room[head] > 0:
            amount = min(excess[supply], room[head])
            for step in range(1, depth, 2):
                amount = min(amount, flow[path[step]])
            for step in range(depth):
                flow[path[step]] += amount if step % 2 == 0 else -amount
            excess[supply] -= amount
            room[head] -= amount
            return True
        # At a full capacity: take back what somebody else sends, if they lie one level farther.
        while next_back[head] < back_starts[head + 1]:
            back = back_edges[next_back[head]]
            if flow[back] > 0 and level_left[tails[back]] == level_right[head] + 1:
                break
            next_back[head] += 1
        if next_back[head] < back_starts[head + 1]:
            path[depth] = back_edges[next_back[head]]
            depth += 1
            at = np.int64(tails[path[depth - 1]])
            continue
        level_right[head] = -2
        depth -= 1
        next_edge[at] += 1
