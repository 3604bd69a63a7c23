//! What a transmission costs.

/// Power drawn while a host sends or receives. Only the radiated part depends on the range; the thesis does not say
/// what else does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PowerModel {
    /// Drawn while sending, besides what is radiated, in watts.
    pub electronics_w: f64,
    /// Radiated for a range of 250 m, in watts.
    pub radiated_250_m_w: f64,
    /// Drawn while receiving, in watts.
    pub receive_w: f64,
}

impl PowerModel {
    /// The defaults of ns-2: 0.660 W while sending over 250 m, of which 0.282 W are radiated, 0.395 W while receiving.
    pub const NS2: Self =
        Self { electronics_w: 0.660 - 0.281_838_15, radiated_250_m_w: 0.281_838_15, receive_w: 0.395 };

    /// Drawn while sending over `range_m` metres, in watts: radiated power grows with the fourth power of the range
    /// beyond the cross-over distance of two-ray ground propagation, with its square below.
    pub fn send_w(&self, range_m: f64) -> f64 {
        let fourth = |m: f64| (m / REFERENCE_M) * (m / REFERENCE_M) * (m / REFERENCE_M) * (m / REFERENCE_M);
        let radiated = if range_m >= CROSSOVER_M {
            fourth(range_m)
        } else {
            fourth(CROSSOVER_M) * (range_m / CROSSOVER_M) * (range_m / CROSSOVER_M)
        };
        self.electronics_w + self.radiated_250_m_w * radiated
    }
}

/// Range that [`PowerModel::radiated_250_m_w`] is for, in metres.
const REFERENCE_M: f64 = 250.0;
/// Cross-over distance of ns-2's default antennas, in metres.
const CROSSOVER_M: f64 = 86.14;

#[cfg(test)]
mod tests {
    use super::PowerModel;

    #[test]
    fn the_whole_cell_costs_324_times_the_radiated_power_of_250_m() {
        let model = PowerModel::NS2;
        let radiated = |range_m: f64| model.send_w(range_m) - model.electronics_w;
        assert!((model.send_w(250.0) - 0.660).abs() < 1e-9);
        assert!((radiated(1500.0 / libm::sqrt(2.0)) / radiated(250.0) - 324.0).abs() < 1e-6);
        // Below the cross-over distance half the range costs a quarter, above it a sixteenth.
        assert!((radiated(80.0) / radiated(40.0) - 4.0).abs() < 1e-9);
        assert!((radiated(400.0) / radiated(200.0) - 16.0).abs() < 1e-9);
        assert!((radiated(86.139) / radiated(86.141) - 1.0).abs() < 1e-3);
    }
}
