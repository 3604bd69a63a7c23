//! Radios of several kinds on one air: what holds on each channel.
use super::rule;
use super::setup::{AirConfig, AirError, ChannelConfig};
use super::thresholds::Thresholds;
use crate::energy::{EnergyConfig, Powers};
use crate::field::NO_CHANNEL;
use crate::mac::config::{Mac, MacConfig};
use crate::mac::dcf::Rule;
use crate::propagation::{Chance, PathLoss};
use crate::radio::RadioConfig;
use alloc::format;
use alloc::vec::Vec;
use prismux_endpoint::random::{RandomStream, Seed};

/// What radios of one kind have in common.
#[derive(Debug)]
pub(super) struct Kind {
    pub mac: Mac,
    pub rule: Rule,
    pub radio: RadioConfig,
    pub thresholds: Thresholds,
    pub loss: PathLoss,
    pub chance: Chance,
    /// How far a frame is received in the mean.
    pub range_m: f64,
    /// How far a signal is above the carrier-sense threshold, whatever fading adds to it.
    pub reach_m: f64,
}

impl Kind {
    fn new(radio: RadioConfig, mac: MacConfig, energy: Option<&EnergyConfig>) -> Result<Self, AirError> {
        let rule = rule(&radio, &mac).map_err(AirError::Radio)?;
        let thresholds = Thresholds::new(&radio, &mac);
        let mut mac = Mac::new(mac, radio.propagation_delay);
        mac.powers = energy.map(|energy| Powers::new(energy, &radio));
        let loss = PathLoss::new(radio.propagation, &radio.antenna);
        let chance = Chance::new(radio.propagation, radio.fading);
        let reach_m = loss.range_m(radio.carrier_threshold_w / chance.largest_factor());
        let range_m = radio.range_m();
        Ok(Self { mac, rule, radio, thresholds, loss, chance, range_m, reach_m })
    }
}

/// The kinds of radios on an air: that of most channels first, then those that single channels have.
#[derive(Debug)]
pub(super) struct Kinds {
    common: Kind,
    /// Whether there are others: few airs have any.
    several: bool,
    /// Those of single channels.
    own: Vec<Kind>,
    /// The channels, in the same order.
    channels: Vec<u8>,
    /// By radio: the number of its kind, from 1 on for those of single channels; empty where there are none.
    of_radios: Vec<u8>,
}

impl Kinds {
    /// Those of an air whose radios begin on these channels.
    ///
    /// # Errors
    /// When frames of a medium access cannot be received by the radio beside it.
    pub fn new(config: &AirConfig, channels: impl Iterator<Item = u8>) -> Result<Self, AirError> {
        let energy = config.energy.as_ref();
        let common = Kind::new(config.radio, config.mac, energy)?;
        let kind = |own: &ChannelConfig| Kind::new(own.radio, own.mac, energy);
        let own = config.channels.iter().map(kind).collect::<Result<Vec<_>, _>>()?;
        let its_channels = config.channels.iter().map(|own| own.channel).collect();
        let several = !own.is_empty();
        let mut all = Self { common, several, own, channels: its_channels, of_radios: Vec::new() };
        if several {
            all.of_radios = channels.map(|channel| all.number_on(channel)).collect();
        }
        Ok(all)
    }

    /// A stream of random numbers for each kind.
    pub fn streams(&self, seed: Seed, name: &str) -> Vec<RandomStream> {
        let own = self.channels.iter().map(|channel| seed.stream(&format!("{name}/{channel}")));
        core::iter::once(seed.stream(name)).chain(own).collect()
    }

    fn number_on(&self, channel: u8) -> u8 {
        let own = self.channels.iter().position(|one| *one == channel);
        own.map_or(0, |place| place as u8 + 1)
    }

    /// The kind of which all are that no channel makes another.
    #[inline]
    pub fn common(&self) -> &Kind {
        &self.common
    }

    pub fn all(&self) -> impl Iterator<Item = &Kind> {
        core::iter::once(&self.common).chain(&self.own)
    }

    /// The number of a radio's kind.
    #[inline]
    pub fn number(&self, radio: u32) -> usize {
        if self.several { usize::from(self.of_radios[radio as usize]) } else { 0 }
    }

    /// The kind of a radio.
    #[inline]
    pub fn of(&self, radio: u32) -> &Kind {
        match self.number(radio) {
            0 => &self.common,
            own => &self.own[own - 1],
        }
    }

    /// The medium access of a radio.
    #[inline]
    pub fn mac(&self, radio: u32) -> &Mac {
        if self.several { &self.of(radio).mac } else { &self.common.mac }
    }

    /// A radio goes to a channel. Whether it is of another kind from now on; one that is tuned to none stays what it
    /// is.
    pub fn tune(&mut self, radio: u32, channel: u8) -> bool {
        let number = self.number_on(channel);
        match self.of_radios.get_mut(radio as usize) {
            Some(own) if channel != NO_CHANNEL && *own != number => {
                *own = number;
                true
            }
            _ => false,
        }
    }
}
