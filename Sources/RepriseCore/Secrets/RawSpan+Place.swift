extension RawSpan {
  /// Tells where these bytes stand in others.
  /// - Parameter whole: The others.
  /// - Returns: The offset of the first byte; nil if these are no part of the others.
  package func place(in whole: RawSpan) -> Int? {
    withUnsafeBytes { part in
      whole.withUnsafeBytes { whole in
        guard let start = part.baseAddress, let base = whole.baseAddress else { return nil }
        let offset = start - base
        return offset >= 0 && offset + part.count <= whole.count ? offset : nil
      }
    }
  }
}
