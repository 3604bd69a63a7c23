//! What one receiver makes of the signals that reach it.
use crate::HostId;
use crate::event::Miss;
use prismux_units::{Duration, Instant, Rate};

/// What became of one signal at one receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// Too weak to decode.
    Weak,
    /// Another signal was on the air and not 10 dB apart.
    Collided,
    /// A much stronger frame was being received.
    Overpowered,
    /// The host was sending.
    WhileSending,
}

/// A signal that begins at a receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signal {
    /// The frame's place among those on the air.
    pub frame: u32,
    pub from: HostId,
    /// Whether it follows another of the sender's at once.
    pub continues: bool,
    pub power_w: f64,
    /// When it ends.
    pub until: Instant,
    /// Strong enough to decode, were it alone.
    pub decodable: bool,
    /// The rate of its bits.
    pub rate: Rate,
}

/// No frame.
const NONE: u32 = u32::MAX;

/// The state of a receiver: at most one frame is being received, or what is left of several.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ear {
    /// The reception lasts until here.
    until: Instant,
    /// Any signal lasts until here.
    pub energy_until: Instant,
    /// The host itself sends until here.
    pub sending_until: Instant,
    power_w: f64,
    /// The frame that is being received intact.
    locked: u32,
    /// Whether the latest reception was of no use.
    pub damaged: bool,
    /// What the latest frame was lost to that was lost while it was being received.
    pub broken: Miss,
    /// Time in which signals were heard and the host did not send.
    receiving: Duration,
    /// Time in which the host sent.
    sending: Duration,
}

impl Ear {
    pub fn new() -> Self {
        Self {
            until: Instant::ZERO,
            energy_until: Instant::ZERO,
            sending_until: Instant::ZERO,
            power_w: 0.0,
            locked: NONE,
            damaged: false,
            broken: Miss::Collided,
            receiving: Duration::ZERO,
            sending: Duration::ZERO,
        }
    }

    /// End of the latest reception, intact or not.
    pub fn reception_ends(&self) -> Instant {
        self.until
    }

    /// Whether this frame is being received intact.
    pub fn is_locked_on(&self, frame: u32) -> bool {
        self.locked == frame
    }

    /// Whether the end of the latest reception passed unnoticed, since the host was sending.
    pub fn was_deaf_at_the_end(&self) -> bool {
        self.sending_until > self.until
    }

    /// The air is not silent until the end of `signal`.
    #[inline]
    fn hear(&mut self, now: Instant, signal: &Signal) {
        let counted_until = self.energy_until.max(self.sending_until).max(now);
        if signal.until > counted_until {
            self.receiving += signal.until - counted_until;
        }
        self.energy_until = self.energy_until.max(signal.until);
    }

    /// A signal begins where error curves decide at the end of frames: the receiver locks on it if it is free. Says
    /// what is lost at once.
    pub fn lock_or_lose(&mut self, now: Instant, signal: &Signal) -> Option<Loss> {
        self.hear(now, signal);
        if !signal.decodable {
            return Some(Loss::Weak);
        }
        if self.sending_until > now {
            return Some(Loss::WhileSending);
        }
        if self.until > now && self.locked != NONE {
            return Some(Loss::Collided);
        }
        (self.locked, self.until, self.damaged) = (signal.frame, signal.until, false);
        None
    }

    /// A signal begins where powers decide, `decodable` or not. `lost` learns what is lost by it: the signal itself,
    /// and the frame that was being received.
    #[inline]
    pub fn signal_begins(
        &mut self,
        now: Instant,
        signal: &Signal,
        decodable: bool,
        ratio: f64,
        weak_is_damage: bool,
        mut lost: impl FnMut(Loss),
    ) {
        self.hear(now, signal);
        if self.until <= now {
            let sending = self.sending_until > now;
            self.until = signal.until;
            self.power_w = signal.power_w;
            match (decodable, sending) {
                (true, false) => {
                    self.locked = signal.frame;
                    self.damaged = false;
                    return;
                }
                (true, true) => lost(Loss::WhileSending),
                (false, _) => lost(Loss::Weak),
            }
            self.locked = NONE;
            if weak_is_damage {
                self.damaged = true;
            }
            return;
        }
        if self.power_w >= ratio * signal.power_w {
            return lost(if decodable { Loss::Overpowered } else { Loss::Weak });
        }
        if self.locked != NONE {
            lost(Loss::Collided);
            self.locked = NONE;
            self.broken = Miss::Collided;
        }
        lost(if decodable { Loss::Collided } else { Loss::Weak });
        self.damaged = true;
        if signal.until > self.until {
            self.until = signal.until;
            self.power_w = signal.power_w;
        }
    }

    /// A signal ends: whether it was received.
    #[inline]
    pub fn signal_ends(&mut self, frame: u32) -> bool {
        let received = self.locked == frame;
        if received {
            self.locked = NONE;
        }
        received
    }

    /// The host begins to send. Whether a frame that it was receiving is lost by that.
    pub fn send(&mut self, now: Instant, until: Instant) -> bool {
        let overlap = self.energy_until.min(until) - now;
        self.receiving = self.receiving - overlap;
        self.sending += until - now;
        self.sending_until = until;
        let lost = self.until > now && self.locked != NONE;
        if self.until > now {
            self.locked = NONE;
            self.damaged = true;
            self.broken = Miss::WhileSending;
        }
        lost
    }

    /// Until when the host sends or hears something, as far as is known.
    pub fn active_until(&self) -> Instant {
        self.energy_until.max(self.sending_until)
    }

    /// The host has no power left. Whether a frame that it was receiving is lost by that.
    pub fn power_off(&mut self, now: Instant) -> bool {
        let lost = self.until > now && self.locked != NONE;
        self.locked = NONE;
        self.broken = Miss::WithoutPower;
        lost
    }

    /// The radio hears another channel. Whether a frame that it was receiving is lost by that.
    pub fn tune(&mut self, now: Instant) -> bool {
        let lost = self.power_off(now);
        self.broken = Miss::Tuning;
        let counted_from = self.sending_until.max(now);
        if self.energy_until > counted_from {
            self.receiving = self.receiving - (self.energy_until - counted_from);
        }
        self.energy_until = self.energy_until.min(now);
        (self.until, self.damaged) = (self.until.min(now), false);
        lost
    }

    /// Time spent sending and receiving by `now`.
    pub fn active_times(&self, now: Instant) -> (Duration, Duration) {
        let sending_left = self.sending_until - now;
        let receiving_left = self.energy_until - self.sending_until.max(now);
        (self.sending - sending_left, self.receiving - receiving_left)
    }
}
