import CConformance
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
func x() -> Int { Int(conformance_mqtt_3_1_1().count) }
