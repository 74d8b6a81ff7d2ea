// Masks payloads as a client does before it sends them, and copies the same bytes without a mask.
//
//     mask SIZE
//
// SIZE is that of one payload in bytes. Prints the gigabytes a second with a mask and those of a memcpy.

import Glibc
import Wire

let arguments = CommandLine.arguments
guard arguments.count == 2, let size = Int(arguments[1]), size > 0 else {
  print("mask SIZE")
  exit(2)
}
let payload = [UInt8](repeating: 0x5A, count: size)
// Half a gigabyte in each round is enough for the clock, and the best of five rounds for a busy machine.
let times = max(1, (512 << 20) / size)
let clock = ContinuousClock()
var output: [UInt8] = []
output.reserveCapacity(size)
var check: UInt8 = 0

/// The most gigabytes a second of five rounds.
func best(_ round: (Int) -> Void) -> Double {
  let seconds = (0..<5).map { _ in
    clock.measure { for time in 0..<times { round(time) } } / .seconds(1)
  }
  return Double(size * times) / (seconds.min() ?? 1) / 1e9
}

let masked = best { time in
  output.removeAll(keepingCapacity: true)
  WebSocketMask.append(
    payload.span.bytes, key: UInt32(truncatingIfNeeded: time) | 1, to: &output)
  check ^= output[time % size]
}
let copied = best { time in
  payload.withUnsafeBytes { source in
    output.withUnsafeMutableBytes { target in
      guard let to = target.baseAddress, let from = source.baseAddress else { return }
      memcpy(to, from, size)
    }
  }
  check ^= output[time % size]
}
print(masked, copied, check)
