"""Finds the places of a Swift source that can be mutated, and rewrites them.

Every mutant of a source is compiled into it, behind a question that an environment variable answers: `a < b` becomes
`a <^ 17 ^> b`, which is `a <= b` for mutant 17. Support.swift has what the rewritten sources call. No rewriting adds or
removes a line, so that a diagnostic of the compiler points at the line of the source.
"""

import re
from dataclasses import dataclass, field

WORDS = {"if", "guard", "while", "for", "switch", "return", "let", "var", "func", "case", "default", "break", "continue",
         "throw", "defer", "do", "else", "struct", "enum", "class", "extension", "init", "static", "private", "import",
         "precondition", "self", "subscript", "mutating", "repeat", "public", "internal", "package", "fileprivate", "typealias"}
COMPARISONS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}


@dataclass
class Site:
    """A place with its mutants, whose numbers follow each other."""
    start: int
    end: int
    kind: str
    changes: list
    # What is put in, by position: texts that take the number of the first mutant.
    edits: list = field(default_factory=list)
    # What is replaced.
    cuts: list = field(default_factory=list)


def masked(source):
    """The source with comments and literals of text blanked, each character by one."""
    out = list(source)
    index, size = 0, len(source)

    def blank(start, end, by=" "):
        for place in range(start, end):
            if out[place] != "\n":
                out[place] = by

    def text(start):
        quote = '"""' if source.startswith('"""', start) else '"'
        place = start + len(quote)
        while place < size and not source.startswith(quote, place):
            if source.startswith("\\(", place):
                depth, place = 1, place + 2
                while depth:
                    if source[place] == '"':
                        place = text(place)
                        continue
                    depth += {"(": 1, ")": -1}.get(source[place], 0)
                    place += 1
            elif source[place] == "\\":
                place += 2
            else:
                place += 1
        return place + len(quote)

    while index < size:
        if source.startswith("//", index):
            end = source.find("\n", index)
            end = size if end < 0 else end
            blank(index, end)
            index = end
        elif source[index] == '"':
            end = text(index)
            blank(index, end, "S")
            index = end
        else:
            index += 1
    return "".join(out)


def closing(code, start):
    """The place of the bracket that closes that at a place."""
    depth = 0
    for place in range(start, len(code)):
        if code[place] in "([{":
            depth += 1
        elif code[place] in ")]}":
            depth -= 1
            if depth == 0:
                return place
    return len(code)


def split(code, start, end):
    """The parts of a region between its outermost commas, without the space around them."""
    parts, depth, first = [], 0, start
    for place in range(start, end):
        if code[place] in "([{":
            depth += 1
        elif code[place] in ")]}":
            depth -= 1
        elif code[place] == "," and depth == 0:
            parts.append((first, place))
            first = place + 1
    parts.append((first, end))
    trimmed = []
    for first, last in parts:
        while first < last and code[first].isspace():
            first += 1
        while last > first and code[last - 1].isspace():
            last -= 1
        if first < last:
            trimmed.append((first, last))
    return trimmed


def outermost(code, start, stop):
    """The first place where a pattern is met outside of all brackets."""
    depth, place = 0, start
    while place < len(code):
        if depth == 0 and (found := stop.match(code, place)):
            return found.start()
        if code[place] in "([{":
            depth += 1
        elif code[place] in ")]}":
            depth -= 1
            if depth < 0:
                return place
        place += 1
    return len(code)


def enclosing(code):
    """By place, the bracket that it stands in."""
    stack, inner = [], []
    for char in code:
        if char in ")]}" and stack:
            stack.pop()
        inner.append(stack[-1] if stack else "{")
        if char in "([{":
            stack.append(char)
    return inner


def is_only_value(code, start, end):
    """Whether a statement is all that a closure, or a function that returns something, has."""
    before, behind = code[:start].rstrip(), code[end:].lstrip()
    opening = before.rfind("{")
    if not behind.startswith("}") or not re.fullmatch(r"\{[^{}\n]*?(\bin)?", before[opening:]):
        return False
    header = re.split(r"[{}\n]", before[:opening])[-1]
    return "->" in header or not re.search(r"^\s*\)|\b(if|else|for|while|do|defer|guard|func|init)\b", header)


def find(source):
    """The places of a source that can be mutated."""
    code = masked(source)
    inner = enclosing(code)
    sites = []
    patterns, conditions = [], []
    # Patterns are no expressions, and neither are declarations of types.
    for found in re.finditer(r"(?<![\w.])case\b", code):
        end = outermost(code, found.end(), re.compile(r":(?!:)|\bwhere\b| = |\n\s*case\b"))
        patterns.append((found.start(), end))
        where = re.compile(r"where\b").match(code, end)
        if where:
            conditions.append((where.end(), outermost(code, where.end(), re.compile(r":|\{"))))
    for found in re.finditer(r"(?m)^\s*(@\w+.*|(public |private |fileprivate |package |static |mutating )*"
                             r"(func|init|subscript|struct|enum|extension|import|infix|indirect)\b[^{\n]*)", code):
        patterns.append((found.start(), found.end()))

    def is_pattern(place):
        return any(start <= place < end for start, end in patterns)

    for found in re.finditer(r"(?<![\w.])(guard|if|while)\b", code):
        stop = re.compile(r"\belse\b") if found.group(1) == "guard" else re.compile(r"\{")
        conditions.append((found.end(), outermost(code, found.end(), stop)))
    for found in re.finditer(r"(?<![\w.])for\b[^{\n]*?\bwhere\b", code):
        conditions.append((found.end(), outermost(code, found.end(), re.compile(r"\{"))))
    for start, end in conditions:
        for first, last in split(code, start, end):
            if re.match(r"(let|var|case|#)\b|#", code[first:last]):
                continue
            sites.append(Site(first, last, "condition", ["true", "false"],
                              [(first, 0, "mutantClause({}, "), (last, 1, ")")]))

    for found in re.finditer(r"(?<=\s)(<=|>=|==|!=|<|>)(?= )", code):
        if is_pattern(found.start()):
            continue
        operator, start, end = found.group(1), found.start(), found.end()
        if nil := re.compile(r" nil\b").match(code, end):
            sites.append(Site(start, nil.end(), "comparison", [f"{operator} nil -> {COMPARISONS[operator][0]} nil"],
                              cuts=[(start, nil.end(), operator + "^^ {}")]))
        else:
            sites.append(Site(start, end, "comparison", [f"{operator} -> {to}" for to in COMPARISONS[operator]],
                              cuts=[(start, end, operator + "^ {} ^>")]))

    for found in re.finditer(r"(?<=\s)(&&|\|\|)(?= )", code):
        operator = found.group(1)
        sites.append(Site(found.start(), found.end(), "junction",
                          [f"what stands behind {operator} dropped", f"what stands before {operator} dropped"],
                          cuts=[(found.start(), found.end(), f"{operator}^ {{}} ^{operator}")]))

    for found in re.finditer(r"(?<![\w.$@])(0x[0-9A-Fa-f_]+|[0-9][0-9_]*)(?![\w.]*\w)|(?<![\w.$@])([0-9]+)(?=\.\.)"
                             r"|(?<=\.\.[.<])(0x[0-9A-Fa-f_]+|[0-9][0-9_]*)(?!\w)", code):
        if is_pattern(found.start()):
            continue
        literal = found.group(0)
        value = int(literal.replace("_", ""), 0)
        changes = [f"{literal} -> {value + 1}"] if value < 100 else [f"{literal} -> half", f"{literal} -> double"]
        name = "mutantNumber" if value < 100 else "mutantLarge"
        sites.append(Site(found.start(), found.end(), "constant", changes,
                          [(found.start(), 0, name + "({}, "), (found.end(), 1, ")")]))

    for found in re.finditer(r"(?<![\w.])(true|false)\b(?!:)", code):
        if is_pattern(found.start()):
            continue
        other = "false" if found.group(1) == "true" else "true"
        sites.append(Site(found.start(), found.end(), "constant", [f"{found.group(1)} -> {other}"],
                          [(found.start(), 0, "mutantFlip({}, "), (found.end(), 1, ")")]))

    # Lists of rules, fields and types, an element less.
    for found in re.finditer(r"(?<=[\s(!])\[(?=\s*[.(]?\.\w)", code):
        end = closing(code, found.start())
        elements = split(code, found.start() + 1, end)
        if is_pattern(found.start()) or not all(code[first] == "." for first, _ in elements):
            continue
        sites.append(Site(found.start(), end + 1, "list",
                          [f"without {' '.join(source[first:last].split())}" for first, last in elements],
                          [(found.start(), 0, "mutantDropping({}, "), (end + 1, 1, ")")]))

    # Rules and reasons, another in their place.
    for found in re.finditer(r"\b(satisfy|leave|violate|append|add|judge)\(\s*(\.\w+)(?=[,)])"
                             r"|\bleave\([^,()]+, (\.\w+)(?=[,)])", code):
        group = 2 if found.group(2) else 3
        start, end = found.span(group)
        sites.append(Site(start, end, "case", [f"{found.group(group)} -> the next case"],
                          [(start, 0, "mutantNext({}, "), (end, 1, ")")]))

    # Statements that are left out, where the compiler does not ask for them.
    initializers = [(found.start(), closing(code, outermost(code, found.end(), re.compile(r"\{"))))
                    for found in re.finditer(r"(?m)^\s*(?:\w+ )*init\b", code)]
    for found in re.finditer(r"(?m)^[ \t]*(?:(?:case\b[^\n]*?|default): )?(?=([A-Za-z_]\w*)[\w.?!\[\]]*(\(| [-+*]?= ))",
                             code):
        start = found.end()
        if found.group(1) in WORDS and not code.startswith("self", start) or inner[start] != "{":
            continue
        if re.search(r"(?:[-+*=,.&|?:]|\breturn|\bin)\s*$", code[:start]) and not re.search(
                r"(?:case\b[^\n]*|default|\{[^\n]* in):?\s*$", code[:start]):
            continue
        if any(first < start < last for first, last in initializers):
            continue
        end = outermost(code, start, re.compile(r"\n|\}"))
        # Goes on as long as the next line belongs to it.
        while re.match(r"\n\s*([.+?&|]|=|\})", code[end:]) and not re.match(r"\n\s*\}", code[end:]):
            end = outermost(code, end + 1, re.compile(r"\n"))
        while code[end - 1].isspace():
            end -= 1
        # A branch may be a value.
        is_branch = re.search(r"\b(case\b[^\n]*|default):\s*$", code[:start])
        if is_branch and not re.match(r"tally\.|[\w.?!\[\]]+ [-+*]?= ", code[start:end]) and "&tally" not in code[start:end]:
            continue
        if code[end - 1] in "=,{" or is_only_value(code, start, end):
            continue
        sites.append(Site(start, end, "statement", ["left out"],
                          [(start, -1, "if !mutant({}) {{ "), (end, 2, " }}")]))
    return sites


def rewritten(source, sites):
    """The source with its sites rewritten; each site comes with the number of its first mutant."""
    edits = []
    for site, number in sites:
        size = site.end - site.start
        for place, order, text in site.edits:
            # At one place what ends comes first, the inner one before the outer; what begins the other way round.
            rank = (1, -order, -size) if place == site.start else (0, order, size)
            edits.append((place, place, rank, text.format(number)))
        for start, end, text in site.cuts:
            edits.append((start, end, (2, 0, 0), text.format(number)))
    edits.sort(key=lambda edit: (edit[0], edit[2]))
    out, done = [], 0
    for start, end, _, text in edits:
        out.append(source[done:start])
        out.append(text)
        # A change must not move the lines behind it.
        if "\n" in source[start:end]:
            out.append("\n" * source[start:end].count("\n"))
        done = end
    out.append(source[done:])
    return "".join(out)
