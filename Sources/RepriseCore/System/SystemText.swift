#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the system says about one of its error numbers, such as `errno`.
/// - Parameter number: The number.
/// - Returns: Its text, or the number itself where it has none.
package func systemText(_ number: Int32) -> String {
  var text = [CChar](repeating: 0, count: 256)
  guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
  return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
}
