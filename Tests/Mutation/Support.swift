// What rewritten sources call, see sites.py. It is compiled in a copy of the package only.

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The mutant that is on; 0 is none.
private let active: Int = getenv("REPRISE_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

func mutant(_ id: Int) -> Bool { active == id }

func mutantClause(_ id: Int, _ value: Bool) -> Bool {
  if active == id { return true }
  return active == id + 1 ? false : value
}

func mutantFlip(_ id: Int, _ value: Bool) -> Bool { active == id ? !value : value }

func mutantNumber<T: BinaryInteger>(_ id: Int, _ value: T) -> T { active == id ? value + 1 : value }

func mutantLarge<T: BinaryInteger>(_ id: Int, _ value: T) -> T {
  if active == id { return value / 2 }
  return active == id + 1 ? value + (T(exactly: 2).map { value / $0 } ?? value) * 2 : value
}

func mutantDropping<T>(_ id: Int, _ list: [T]) -> [T] {
  guard active >= id, active < id + list.count else { return list }
  var list = list
  list.remove(at: active - id)
  return list
}

func mutantNext<T: CaseIterable & Equatable>(_ id: Int, _ value: T) -> T {
  guard active == id else { return value }
  let all = Array(T.allCases)
  return all.firstIndex(of: value).map { all[($0 + 1) % all.count] } ?? value
}

precedencegroup MutantPrecedence {
  associativity: left
  higherThan: LogicalConjunctionPrecedence
  lowerThan: NilCoalescingPrecedence
}

infix operator <^ : MutantPrecedence
infix operator <=^ : MutantPrecedence
infix operator >^ : MutantPrecedence
infix operator >=^ : MutantPrecedence
infix operator ==^ : MutantPrecedence
infix operator !=^ : MutantPrecedence
infix operator ^> : MutantPrecedence
infix operator ==^^ : MutantPrecedence
infix operator !=^^ : MutantPrecedence
infix operator &&^ : LogicalConjunctionPrecedence
infix operator ^&& : LogicalConjunctionPrecedence
infix operator ||^ : LogicalDisjunctionPrecedence
infix operator ^|| : LogicalDisjunctionPrecedence

struct Ordered<T> {
  var value: T
  var id: Int
  /// Less, less or equal, greater, greater or equal.
  var operation: Int
}

struct Equated<T> {
  var value: T
  var id: Int
  var isEqual: Bool
}

func <^ <T: Comparable>(value: T, id: Int) -> Ordered<T> {
  .init(value: value, id: id, operation: 0)
}
func <=^ <T: Comparable>(value: T, id: Int) -> Ordered<T> {
  .init(value: value, id: id, operation: 1)
}
func >^ <T: Comparable>(value: T, id: Int) -> Ordered<T> {
  .init(value: value, id: id, operation: 2)
}
func >=^ <T: Comparable>(value: T, id: Int) -> Ordered<T> {
  .init(value: value, id: id, operation: 3)
}

func ^> <T: Comparable>(left: Ordered<T>, right: T) -> Bool {
  var operation = left.operation
  if active == left.id { operation ^= 1 }
  // Its opposite.
  if active == left.id + 1 { operation = 3 - operation }
  switch operation {
  case 0: return left.value < right
  case 1: return left.value <= right
  case 2: return left.value > right
  default: return left.value >= right
  }
}

func ==^ <T: Equatable>(value: T, id: Int) -> Equated<T> {
  .init(value: value, id: id, isEqual: true)
}
func !=^ <T: Equatable>(value: T, id: Int) -> Equated<T> {
  .init(value: value, id: id, isEqual: false)
}

func ^> <T: Equatable>(left: Equated<T>, right: T) -> Bool {
  (left.value == right) == (left.isEqual != (active == left.id))
}

func ==^^ <T>(value: T?, id: Int) -> Bool { (value == nil) != (active == id) }
func !=^^ <T>(value: T?, id: Int) -> Bool { (value != nil) != (active == id) }

func &&^ (value: Bool, id: Int) -> (Bool, Int) { (value, id) }
func ||^ (value: Bool, id: Int) -> (Bool, Int) { (value, id) }

func ^&& (left: (Bool, Int), right: @autoclosure () throws -> Bool) rethrows -> Bool {
  if active == left.1 { return left.0 }
  if active == left.1 + 1 { return try right() }
  return try left.0 && right()
}

func ^|| (left: (Bool, Int), right: @autoclosure () throws -> Bool) rethrows -> Bool {
  if active == left.1 { return left.0 }
  if active == left.1 + 1 { return try right() }
  return try left.0 || right()
}
