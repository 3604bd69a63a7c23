//! What a radio draws, and how long a battery lasts.
//!
//! A radio sends, hears, sleeps or idles. What it has drawn follows from how long it has been in each of these states;
//! powers and times are integers, so that the balance of a battery holds to the last digit.
use crate::radio::RadioConfig;
use prismux_units::{Duration, Instant};

/// The power that a radio draws in each of its states, in watts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergyConfig {
    /// While it sends, apart from what it radiates when `amplifier_efficiency` is given.
    pub transmit_w: f64,
    /// While it hears signals, for itself or not.
    pub receive_w: f64,
    /// While it is awake and nothing happens.
    pub idle_w: f64,
    /// While it sleeps.
    pub sleep_w: f64,
    /// The share of the amplifier's power that is radiated. With it sending costs more the farther the radio reaches:
    /// what is radiated is what the receive threshold of ns-2's WaveLAN needs at the range.
    pub amplifier_efficiency: Option<f64>,
}

impl EnergyConfig {
    /// The powers of ns-2.35's `wireless-phy.cc`: 0.660 W, 0.395 W, and nothing while idle.
    pub const fn ns2() -> Self {
        Self { transmit_w: 0.660, receive_w: 0.395, idle_w: 0.0, sleep_w: 0.0, amplifier_efficiency: None }
    }

    /// What makes the powers impossible, if anything.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let possible = |watts: f64| (0.0..=MAX_POWER_W).contains(&watts);
        let powers = [self.transmit_w, self.receive_w, self.idle_w, self.sleep_w];
        if !powers.into_iter().all(possible) {
            return Some("powers must be from 0 to 1000 W");
        }
        match self.amplifier_efficiency {
            Some(efficiency) if !(efficiency > 0.0 && efficiency <= 1.0) => {
                Some("the efficiency of the amplifier must be above 0 and at most 1")
            }
            _ => None,
        }
    }
}

const MAX_POWER_W: f64 = 1000.0;
const NANOWATTS_PER_WATT: f64 = 1e9;
const ATTOJOULES_PER_NANOJOULE: u128 = 1_000_000_000;

/// Times at which all radios of an air sleep: at the end of each period, unless they are in the middle of an exchange
/// (the schedule of S-MAC: W. Ye, J. Heidemann, D. Estrin, INFOCOM 2002).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DutyCycle {
    /// From one waking to the next.
    pub period: Duration,
    /// How long radios are awake in each period.
    pub awake: Duration,
}

impl DutyCycle {
    pub(crate) fn fault(self) -> Option<&'static str> {
        let possible = !self.awake.is_zero() && self.awake <= self.period;
        (!possible).then_some("radios must be awake for some of each period, and for no more than that")
    }

    /// When a radio that would sleep at `now` wakes; `None` while it is awake.
    pub(crate) fn wakes(self, now: Instant) -> Option<Instant> {
        let since = (now - Instant::ZERO).as_nanos();
        let into = since % self.period.as_nanos();
        (into >= self.awake.as_nanos()).then(|| now + (self.period - Duration::from_nanos(into)))
    }

    /// When a radio that is awake at `now` goes to sleep.
    fn sleeps(self, now: Instant) -> Instant {
        let into = (now - Instant::ZERO).as_nanos() % self.period.as_nanos();
        now + (self.awake - Duration::from_nanos(into))
    }

    /// How much of the time until `now` was for sleep.
    pub(crate) fn asleep_by(self, now: Instant) -> Duration {
        let since = (now - Instant::ZERO).as_nanos();
        let (period, awake) = (self.period.as_nanos(), self.awake.as_nanos());
        let whole = since / period * (period - awake);
        Duration::from_nanos(whole + (since % period).saturating_sub(awake))
    }
}

/// [`EnergyConfig`], worked out for a radio.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Powers {
    transmit_nw: u64,
    receive_nw: u64,
    idle_nw: u64,
    sleep_nw: u64,
    most_nw: u64,
}

/// How long a radio has been in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct StateTimes {
    pub sending: Duration,
    pub receiving: Duration,
    pub asleep: Duration,
    pub idle: Duration,
}

impl StateTimes {
    /// The times after those `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            sending: self.sending - before.sending,
            receiving: self.receiving - before.receiving,
            asleep: self.asleep - before.asleep,
            idle: self.idle - before.idle,
        }
    }
}

/// What a radio will do if nothing more happens: send, hear, and then nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    pub sends_until: Instant,
    pub hears_until: Instant,
    pub duty_cycle: Option<DutyCycle>,
}

impl Powers {
    pub fn new(config: &EnergyConfig, radio: &RadioConfig) -> Self {
        let nanowatts = |watts: f64| libm::round(watts * NANOWATTS_PER_WATT) as u64;
        let radiated_w =
            config.amplifier_efficiency.map_or(0.0, |share| radio.radiated_for_range_w() / share);
        let (transmit_nw, receive_nw) =
            (nanowatts(config.transmit_w + radiated_w), nanowatts(config.receive_w));
        let (idle_nw, sleep_nw) = (nanowatts(config.idle_w), nanowatts(config.sleep_w));
        let most_nw = transmit_nw.max(receive_nw).max(idle_nw).max(sleep_nw);
        Self { transmit_nw, receive_nw, idle_nw, sleep_nw, most_nw }
    }

    /// What was drawn in these times, in attojoules.
    pub fn drawn_aj(&self, times: &StateTimes) -> u128 {
        cost_aj(self.transmit_nw, times.sending)
            + cost_aj(self.receive_nw, times.receiving)
            + cost_aj(self.idle_nw, times.idle)
            + cost_aj(self.sleep_nw, times.asleep)
    }

    /// The most that it draws in any state, in nanowatts.
    pub const fn most_nw(&self) -> u64 {
        self.most_nw
    }

    /// What a radio draws at `at` if nothing more happens to it, and until when.
    fn state(&self, at: Instant, outlook: &Outlook) -> (u64, Instant) {
        let Outlook { sends_until, hears_until, duty_cycle } = *outlook;
        match duty_cycle {
            _ if at < sends_until => (self.transmit_nw, sends_until),
            _ if at < hears_until => (self.receive_nw, hears_until),
            None => (self.idle_nw, Instant::MAX),
            Some(duty_cycle) => match duty_cycle.wakes(at) {
                Some(wakes) => (self.sleep_nw, wakes),
                None => (self.idle_nw, duty_cycle.sleeps(at)),
            },
        }
    }
}

/// `left_aj` last at least until here for radios that together draw `most_nw` at most, whatever happens.
pub(crate) fn lasts_at_least_until(now: Instant, left_aj: u128, most_nw: u64) -> Instant {
    now + time_for(left_aj, most_nw)
}

/// When `left_aj` are used up if nothing more happens to the radios that draw on them; a moment before that when that
/// is far away.
pub(crate) fn lasts_until<O: Iterator<Item = (Powers, Outlook)>>(
    now: Instant,
    mut left_aj: u128,
    radios: impl Fn() -> O,
) -> Instant {
    let mut at = now;
    for _ in 0..MAX_STEPS {
        let (mut nanowatts, mut until) = (0, Instant::MAX);
        for (powers, outlook) in radios() {
            let (of_radio, changes) = powers.state(at, &outlook);
            nanowatts += of_radio;
            until = until.min(changes);
        }
        let cost = cost_aj(nanowatts, until - at);
        if cost >= left_aj {
            return at + time_for(left_aj, nanowatts);
        }
        left_aj -= cost;
        at = until;
    }
    at
}

/// Changes of what is drawn that are looked ahead at most.
const MAX_STEPS: usize = 64;

fn cost_aj(nanowatts: u64, time: Duration) -> u128 {
    u128::from(nanowatts) * u128::from(time.as_nanos())
}

/// How long energy lasts at a power, rounded up; for ever without power.
fn time_for(left_aj: u128, nanowatts: u64) -> Duration {
    match nanowatts {
        0 => Duration::MAX,
        _ => Duration::from_nanos(u64::try_from(left_aj.div_ceil(u128::from(nanowatts))).unwrap_or(u64::MAX)),
    }
}

/// A host's battery.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Battery {
    pub capacity_aj: u128,
    /// When it was empty.
    pub empty_since: Option<Instant>,
}

impl Battery {
    /// A battery of `joules`. `None` for one that holds nothing, or that nobody can carry.
    pub fn new(joules: f64) -> Option<Self> {
        let capacity_aj = (joules * 1e18) as u128;
        (joules.is_finite() && joules < 1e12 && capacity_aj > 0)
            .then_some(Self { capacity_aj, empty_since: None })
    }
}

pub(crate) fn nanojoules(attojoules: u128) -> u64 {
    u64::try_from(attojoules / ATTOJOULES_PER_NANOJOULE).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{DutyCycle, EnergyConfig, Outlook, Powers, lasts_until};
    use crate::radio::RadioConfig;
    use prismux_units::{Duration, Instant};

    #[test]
    fn sending_four_times_as_far_radiates_256_times_as_much() {
        let sends = |range_m: f64| {
            let mut radio = RadioConfig::wavelan();
            radio.receive_threshold_w = radio.mean_power_w(range_m);
            let config =
                EnergyConfig { amplifier_efficiency: Some(0.25), transmit_w: 0.0, ..EnergyConfig::ns2() };
            Powers::new(&config, &radio).transmit_nw as f64 / 1e9
        };
        assert!((sends(250.0) - 4.0 * 0.28183815).abs() < 1e-3, "{}", sends(250.0));
        assert!((sends(1000.0) / sends(250.0) - 256.0).abs() < 0.1);
    }

    #[test]
    fn sleep_is_counted_to_the_nanosecond() {
        let duty = DutyCycle { period: Duration::from_secs(1), awake: Duration::from_millis(100) };
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        for (now, asleep, wakes) in [
            (50, 0, None),
            (100, 0, Some(1000)),
            (600, 500, Some(1000)),
            (1000, 900, None),
            (2350, 2050, Some(3000)),
        ] {
            assert_eq!(duty.asleep_by(at(now)), Duration::from_millis(asleep), "{now} ms");
            assert_eq!(duty.wakes(at(now)), wakes.map(at), "{now} ms");
        }
    }

    #[test]
    fn a_battery_lasts_as_long_as_its_charge_at_each_power() {
        let config = EnergyConfig { idle_w: 0.1, sleep_w: 0.01, ..EnergyConfig::ns2() };
        let powers = Powers::new(&config, &RadioConfig::wavelan());
        let secs = |seconds: f64| Instant::ZERO + Duration::from_secs_f64(seconds);
        let outlook = |duty_cycle| Outlook { sends_until: secs(2.0), hears_until: secs(4.0), duty_cycle };
        let lasts = |joules: f64, outlooks: &[Outlook]| {
            lasts_until(secs(1.0), (joules * 1e18) as u128, || {
                outlooks.iter().map(|outlook| (powers, *outlook))
            })
        };
        // 0.66 J of sending, 0.79 J of hearing, then 0.1 W.
        for (joules, seconds) in [(0.33, 1.5), (0.66 + 0.395, 3.0), (0.66 + 0.79 + 0.5, 9.0)] {
            let lasts = lasts(joules, &[outlook(None)]);
            assert!(
                (lasts - secs(seconds)).max(secs(seconds) - lasts) < Duration::from_nanos(10),
                "{joules} J: {lasts}"
            );
        }
        // Awake for the first half of each second: 0.055 J a second.
        let duty = DutyCycle { period: Duration::from_secs(1), awake: Duration::from_millis(500) };
        let asleep = lasts(0.66 + 0.79 + 0.11, &[outlook(Some(duty))]);
        assert!((asleep - secs(6.0)).max(secs(6.0) - asleep) < Duration::from_micros(1), "{asleep}");
        // Two radios: both as above, one second apart, and 0.2 W in the end.
        let later = Outlook { sends_until: secs(3.0), hears_until: secs(5.0), duty_cycle: None };
        let drawn = (0.66 + 0.79) + (2.0 * 0.66 + 0.79) + 0.1 + 0.2;
        let both = lasts(drawn, &[outlook(None), later]);
        assert!((both - secs(6.0)).max(secs(6.0) - both) < Duration::from_nanos(10), "{both}");
    }
}
