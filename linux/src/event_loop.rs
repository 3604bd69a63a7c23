//! Waiting: file descriptors, one precise timer, and a request to stop.
//!
//! Single-threaded and level-triggered. The user handles what [`EventLoop::wait`] reports in bounded batches
//! ([`BATCH_PACKETS`] per source), so that a busy source delays the others by one batch and no more.
use crate::clock::Clock;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::time::TimeSpec;
use nix::sys::timer::TimerSetTimeFlags;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags};
use prismux_units::Instant;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

/// Packets that one source may have handled before the others get their turn.
pub const BATCH_PACKETS: usize = 64;

/// Names a watched descriptor in the answer of [`EventLoop::wait`].
pub type Token = u64;

const TIMER: Token = u64::MAX;
const STOP: Token = u64::MAX - 1;
const SIGNAL: Token = u64::MAX - 2;

/// Asks a running daemon to shut down cleanly; may be cloned and sent to other threads.
#[derive(Debug, Clone)]
pub struct StopHandle(Arc<EventFd>);

impl StopHandle {
    /// A handle that has not been used yet.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn new() -> io::Result<Self> {
        let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
        Ok(Self(Arc::new(event)))
    }

    /// Asks for the shutdown. Calling it again does nothing more.
    pub fn stop(&self) {
        // Fails only when the counter is full, and then the request has long been made.
        let _ = self.0.write(1);
    }
}

/// Epoll, a timer and the two ways to be stopped: SIGINT or SIGTERM, and a [`StopHandle`].
pub struct EventLoop {
    epoll: Epoll,
    timer: TimerFd,
    /// When the timer will ring; `None` when it is not set.
    armed: Option<Instant>,
    stop: StopHandle,
    signals: Option<SignalFd>,
    clock: Clock,
    events: [EpollEvent; 16],
}

/// Why [`EventLoop::wait`] returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wake {
    /// Some descriptors are ready, or the deadline may have passed.
    Work,
    /// Somebody asked for the shutdown.
    Stop,
}

impl EventLoop {
    /// An event loop that ends when `stop` is used.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn new(clock: Clock, stop: StopHandle) -> io::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let timer =
            TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, TIMER))?;
        epoll.add(&*stop.0, EpollEvent::new(EpollFlags::EPOLLIN, STOP))?;
        let events = [EpollEvent::empty(); 16];
        Ok(Self { epoll, timer, armed: None, stop, signals: None, clock, events })
    }

    /// Ends on SIGINT and SIGTERM too, which [`block_stop_signals`] must have blocked.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn stop_on_signals(&mut self) -> io::Result<()> {
        let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
        let signals = SignalFd::with_flags(&stop_signals(), flags)?;
        self.epoll.add(&signals, EpollEvent::new(EpollFlags::EPOLLIN, SIGNAL))?;
        self.signals = Some(signals);
        Ok(())
    }

    /// The clock that deadlines refer to.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// A handle that stops this loop.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Reports `token` whenever `fd` can be read.
    ///
    /// # Errors
    /// The kernel's, see epoll_ctl(2).
    pub fn watch(&self, fd: impl AsFd, token: Token) -> io::Result<()> {
        debug_assert!(token < SIGNAL);
        Ok(self.epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, token))?)
    }

    /// No longer reports `fd`.
    ///
    /// # Errors
    /// When `fd` was not watched.
    pub fn forget(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(self.epoll.delete(fd)?)
    }

    /// Sleeps until a descriptor is ready, `deadline` has come or a stop was asked for. Writes the ready
    /// tokens to `ready`.
    ///
    /// # Errors
    /// The kernel's, see epoll_wait(2) and timerfd_settime(2); an interrupted call is none.
    pub fn wait(&mut self, deadline: Option<Instant>, ready: &mut Vec<Token>) -> io::Result<Wake> {
        ready.clear();
        let timeout = self.arm(deadline)?;
        let count = loop {
            match self.epoll.wait(&mut self.events, timeout) {
                // A process that was stopped and goes on finds out here, before what is ready.
                Err(Errno::EINTR) => {}
                count => break count?,
            }
        };
        let mut wake = Wake::Work;
        for event in &self.events[..count] {
            match event.data() {
                TIMER => {
                    self.armed = None;
                    // Clears the readiness; it would block only if the kernel had changed its mind.
                    let _ = self.timer.wait();
                }
                STOP | SIGNAL => wake = Wake::Stop,
                token => ready.push(token),
            }
        }
        Ok(wake)
    }

    /// Takes note of a request to stop: [`EventLoop::wait`] reports [`Wake::Stop`] again only for another one.
    pub fn take_stop(&mut self) {
        // Both are non-blocking: an error means that there was nothing to take.
        let _ = self.stop.0.read();
        while let Some(signals) = &self.signals
            && matches!(signals.read_signal(), Ok(Some(_)))
        {}
    }

    /// Sets the timer for `deadline` and says whether epoll may sleep at all. A timer that rings earlier
    /// than asked is left alone: one needless wake-up is cheaper than a system call for every packet.
    fn arm(&mut self, deadline: Option<Instant>) -> io::Result<EpollTimeout> {
        let Some(deadline) = deadline.filter(|&at| at != Instant::MAX) else {
            return Ok(EpollTimeout::NONE);
        };
        if self.armed.is_some_and(|armed| armed <= deadline) {
            return Ok(EpollTimeout::NONE);
        }
        let left = deadline - self.clock.now();
        if left.is_zero() {
            return Ok(EpollTimeout::ZERO);
        }
        let expiration = Expiration::OneShot(TimeSpec::from(Duration::from_nanos(left.as_nanos())));
        self.timer.set(expiration, TimerSetTimeFlags::empty())?;
        self.armed = Some(deadline);
        Ok(EpollTimeout::NONE)
    }
}

fn stop_signals() -> SigSet {
    SigSet::from_iter([Signal::SIGINT, Signal::SIGTERM])
}

/// Lets SIGINT and SIGTERM wait until [`EventLoop::stop_on_signals`] listens for them, so that a daemon that is asked
/// to stop while it starts still tidies up. For the calling thread, which should be the only one or the parent of
/// all.
///
/// # Errors
/// The kernel's, see pthread_sigmask(3).
pub fn block_stop_signals() -> io::Result<()> {
    Ok(stop_signals().thread_block()?)
}

#[cfg(test)]
mod tests;
