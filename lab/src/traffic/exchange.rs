//! Requests and responses over one TCP connection, one after the other.
use super::socket::{CONNECT_TIMEOUT, is_pause};
use super::tcp::accept;
use super::{Arrivals, FlowOutcome, Schedule, WAIT};
use prismux_trace::histogram::DelayHistogram;
use prismux_trace::results::ResponseResult;
use prismux_units::Duration;
use socket2::Socket;
use std::io::{self, Read, Write};
use std::net::{SocketAddrV4, TcpListener, TcpStream};
use std::time;

/// Who asks and who answers, and how much.
pub(crate) struct ExchangeFlow {
    pub schedule: Schedule,
    pub client: Socket,
    pub server: SocketAddrV4,
    pub listener: TcpListener,
    pub request_bytes: u64,
    pub response_bytes: u64,
    pub think: Duration,
    pub exchanges: Option<u64>,
}

impl ExchangeFlow {
    /// Runs the flow to its end and reports.
    pub fn run(self) -> FlowOutcome {
        let flow = &self;
        std::thread::scope(|scope| {
            let server = scope.spawn(move || flow.answer());
            let mut outcome = FlowOutcome::default();
            if let Err(error) = flow.ask(&mut outcome) {
                outcome.trouble = Some(format!("client: {error}"));
            }
            let answered = server.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome.trouble = outcome.trouble.or(answered.err().map(|error| format!("server: {error}")));
            outcome
        })
    }

    fn ask(&self, outcome: &mut FlowOutcome) -> io::Result<()> {
        if !self.schedule.wait_until(self.schedule.start) {
            return Ok(());
        }
        let left = time::Duration::from_nanos((self.schedule.stop - self.schedule.now()).as_nanos());
        self.client.connect_timeout(&self.server.into(), CONNECT_TIMEOUT.min(left))?;
        self.client.set_tcp_nodelay(true)?;
        outcome.connected_at = Some(self.schedule.now());
        let mut stream: TcpStream = self.client.try_clone()?.into();
        stream.set_read_timeout(Some(WAIT))?;
        let mut delays = DelayHistogram::default();
        let mut arrivals = Arrivals::default();
        let mut done = 0;
        let mut buffer = vec![0; 65_536];
        while self.exchanges.is_none_or(|most| done < most) {
            let asked = self.schedule.now();
            if self.schedule.is_over() || !self.write(&mut stream, self.request_bytes)? {
                break;
            }
            let mut left = self.response_bytes;
            while left > 0 {
                let Some(count) = self.read(&mut stream, &mut buffer, left)? else { break };
                left -= count;
                arrivals.record(self.schedule.now(), count);
            }
            if left > 0 {
                break;
            }
            let answered = self.schedule.now();
            delays.record(answered - asked);
            done += 1;
            if self.exchanges == Some(done) {
                outcome.completed_at = Some(answered);
            } else if !self.schedule.wait_until(answered + self.think) {
                break;
            }
        }
        // The server ends when it sees this.
        let _ = stream.shutdown(std::net::Shutdown::Both);
        outcome.arrivals = arrivals;
        outcome.response = ResponseResult::of(&delays);
        Ok(())
    }

    fn answer(&self) -> io::Result<()> {
        let Some(mut stream) = accept(&self.listener, &self.schedule)? else { return Ok(()) };
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WAIT))?;
        let mut buffer = vec![0; 65_536];
        loop {
            let mut left = self.request_bytes;
            while left > 0 {
                let Some(count) = self.read(&mut stream, &mut buffer, left)? else { return Ok(()) };
                left -= count;
            }
            if !self.write(&mut stream, self.response_bytes)? {
                return Ok(());
            }
        }
    }

    /// Reads up to `most` bytes; `None` when the other end has closed or the flow is over.
    fn read(&self, stream: &mut TcpStream, buffer: &mut [u8], most: u64) -> io::Result<Option<u64>> {
        let length = usize::try_from(most).unwrap_or(usize::MAX).min(buffer.len());
        loop {
            match stream.read(&mut buffer[..length]) {
                Ok(0) => return Ok(None),
                Ok(count) => return Ok(Some(count as u64)),
                Err(error) if is_pause(&error) && !self.schedule.is_over() => {}
                Err(error) if is_pause(&error) => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes `bytes` bytes; false when the flow's end came before.
    fn write(&self, stream: &mut TcpStream, bytes: u64) -> io::Result<bool> {
        stream.set_write_timeout(Some(WAIT))?;
        let zeroes = [0; 16 * 1024];
        let mut left = bytes;
        while left > 0 {
            let length = usize::try_from(left).unwrap_or(usize::MAX).min(zeroes.len());
            match stream.write(&zeroes[..length]) {
                Ok(count) => left -= count as u64,
                Err(error) if is_pause(&error) && !self.schedule.is_over() => {}
                Err(error) if is_pause(&error) => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }
}
