//! Programs for the kernel's BPF machine, instruction by instruction (RFC 9669).
//!
//! A compiler for this machine is a large thing to ask of whoever builds; a program of a hundred instructions is none.
//! The kernel's verifier proves each program safe before it runs, whoever wrote it.

/// A register: [`R0`] holds results, [`R1`] to [`R5`] arguments, which calls overwrite, [`R6`] to [`R9`] what calls
/// leave alone, [`FRAME`] the upper end of the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Register(u8);

/// Results.
pub const R0: Register = Register(0);
/// First argument.
pub const R1: Register = Register(1);
/// Second argument.
pub const R2: Register = Register(2);
/// Third argument.
pub const R3: Register = Register(3);
/// Fourth argument.
pub const R4: Register = Register(4);
/// Fifth argument.
pub const R5: Register = Register(5);
/// Kept over calls.
pub const R6: Register = Register(6);
/// Kept over calls.
pub const R7: Register = Register(7);
/// Kept over calls.
pub const R8: Register = Register(8);
/// Kept over calls.
pub const R9: Register = Register(9);
/// The upper end of the stack, read only.
pub const FRAME: Register = Register(10);

/// A register or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// A register's value.
    Register(Register),
    /// A number, extended with its sign.
    Value(i32),
}

impl From<Register> for Operand {
    fn from(register: Register) -> Self {
        Self::Register(register)
    }
}

impl From<i32> for Operand {
    fn from(value: i32) -> Self {
        Self::Value(value)
    }
}

/// How many bytes a load or store moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// 4.
    Word = 0x00,
    /// 2.
    Half = 0x08,
    /// 1.
    Byte = 0x10,
    /// 8.
    Double = 0x18,
}

/// Arithmetic on 64 bits; divisions are unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Sum.
    Add = 0x00,
    /// Difference.
    Subtract = 0x10,
    /// Product.
    Multiply = 0x20,
    /// Quotient; 0 where the divisor is.
    Divide = 0x30,
    /// Bits of either.
    Or = 0x40,
    /// Bits of both.
    And = 0x50,
    /// Shift towards the higher bits.
    ShiftUp = 0x60,
    /// Shift towards the lower bits, zeros following.
    ShiftDown = 0x70,
    /// The operand itself.
    Copy = 0xb0,
}

/// What makes a jump be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// Equal.
    Equal = 0x10,
    /// Greater, unsigned.
    Above = 0x20,
    /// Greater or equal, unsigned.
    NotBelow = 0x30,
    /// Some bit in common.
    Shares = 0x40,
    /// Not equal.
    Differs = 0x50,
    /// Less, with sign.
    Less = 0xc0,
    /// Less or equal, with sign.
    AtMost = 0xd0,
    /// Less, unsigned.
    Below = 0xa0,
}

/// A place to jump to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label(usize);

/// A program being written.
#[derive(Debug, Default)]
pub struct Assembly {
    instructions: Vec<u64>,
    /// Where each label stands, once it does.
    places: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
}

const CLASS_LOAD: u8 = 0x01;
const CLASS_STORE_VALUE: u8 = 0x02;
const CLASS_STORE: u8 = 0x03;
const CLASS_JUMP: u8 = 0x05;
const CLASS_JUMP_32: u8 = 0x06;
const CLASS_ARITHMETIC_32: u8 = 0x04;
const CLASS_ARITHMETIC: u8 = 0x07;
const IN_MEMORY: u8 = 0x60;
const FROM_REGISTER: u8 = 0x08;

impl Assembly {
    /// An empty program.
    pub fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, code: u8, to: Register, from: u8, offset: i16, value: i32) {
        // Fields as RFC 9669 section 3 has them; the two registers share a byte in an order that follows the machine's.
        let registers = if cfg!(target_endian = "big") { to.0 << 4 | from } else { from << 4 | to.0 };
        let [low, high] = offset.to_ne_bytes();
        let [a, b, c, d] = value.to_ne_bytes();
        self.instructions.push(u64::from_ne_bytes([code, registers, low, high, a, b, c, d]));
    }

    fn push_with(&mut self, code: u8, to: Register, operand: Operand, offset: i16) {
        match operand {
            Operand::Register(from) => self.push(code | FROM_REGISTER, to, from.0, offset, 0),
            Operand::Value(value) => self.push(code, to, 0, offset, value),
        }
    }

    /// A new label, to be placed once.
    pub fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    /// Jumps to `label` come here.
    pub fn place(&mut self, label: Label) {
        if let Some(place) = self.places.get_mut(label.0) {
            *place = Some(self.instructions.len());
        }
    }

    /// `to = operand`.
    pub fn set(&mut self, to: Register, operand: impl Into<Operand>) {
        self.compute(Operation::Copy, to, operand);
    }

    /// `to = to OPERATION operand`, on 64 bits.
    pub fn compute(&mut self, operation: Operation, to: Register, operand: impl Into<Operand>) {
        self.push_with(operation as u8 | CLASS_ARITHMETIC, to, operand.into(), 0);
    }

    /// `to = to OPERATION operand`, on 32 bits, the upper ones 0.
    pub fn compute_32(&mut self, operation: Operation, to: Register, operand: impl Into<Operand>) {
        self.push_with(operation as u8 | CLASS_ARITHMETIC_32, to, operand.into(), 0);
    }

    /// The lowest `bits` (16 or 32) of `to` from network order.
    pub fn from_network_order(&mut self, to: Register, bits: i32) {
        self.push(0xdc, to, 0, 0, bits);
    }

    /// `to = *(base + offset)`.
    pub fn load(&mut self, width: Width, to: Register, base: Register, offset: i16) {
        self.push(CLASS_LOAD | IN_MEMORY | width as u8, to, base.0, offset, 0);
    }

    /// `*(base + offset) = operand`.
    pub fn store(&mut self, width: Width, base: Register, offset: i16, operand: impl Into<Operand>) {
        match operand.into() {
            Operand::Register(from) => {
                self.push(CLASS_STORE | IN_MEMORY | width as u8, base, from.0, offset, 0);
            }
            Operand::Value(value) => {
                self.push(CLASS_STORE_VALUE | IN_MEMORY | width as u8, base, 0, offset, value);
            }
        }
    }

    /// `*(base + offset) += from`, 8 bytes, atomically.
    pub fn add_atomically(&mut self, base: Register, offset: i16, from: Register) {
        self.push(0xdb, base, from.0, offset, 0);
    }

    /// Goes on at `label`.
    pub fn jump(&mut self, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push(CLASS_JUMP, R0, 0, 0, 0);
    }

    /// Goes on at `label` if the comparison of `left` with `right` holds, on 64 bits.
    pub fn jump_if(&mut self, left: Register, condition: Condition, right: impl Into<Operand>, label: Label) {
        self.jumps.push((self.instructions.len(), label));
        self.push_with(condition as u8 | CLASS_JUMP, left, right.into(), 0);
    }

    /// As [`Assembly::jump_if`], on the lower 32 bits.
    pub fn jump_if_32(
        &mut self,
        left: Register,
        condition: Condition,
        right: impl Into<Operand>,
        label: Label,
    ) {
        self.jumps.push((self.instructions.len(), label));
        self.push_with(condition as u8 | CLASS_JUMP_32, left, right.into(), 0);
    }

    /// Calls a helper, by its number (`enum bpf_func_id`).
    pub fn call(&mut self, helper: i32) {
        self.push(0x85, R0, 0, 0, helper);
    }

    /// Calls one of the kernel's own functions, by the number of its type (a kfunc).
    pub fn call_kernel(&mut self, function: u32) {
        self.push(0x85, R0, 2, 0, function.cast_signed());
    }

    /// `to` is the map, for helpers.
    pub fn map(&mut self, to: Register, descriptor: i32) {
        self.push(0x18, to, 1, 0, descriptor);
        self.push(0, R0, 0, 0, 0);
    }

    /// `to` points to a byte of the map's only value.
    pub fn map_value(&mut self, to: Register, descriptor: i32, offset: i32) {
        self.push(0x18, to, 2, 0, descriptor);
        self.push(0, R0, 0, 0, offset);
    }

    /// Ends the program with what [`R0`] holds.
    pub fn exit(&mut self) {
        self.push(0x95, R0, 0, 0, 0);
    }

    /// The instructions, jumps resolved; `None` where a label was not placed or stands too far away.
    pub fn finish(mut self) -> Option<Vec<u64>> {
        for &(at, label) in &self.jumps {
            let place = (*self.places.get(label.0)?)?;
            let distance = i16::try_from(place as i64 - at as i64 - 1).ok()?;
            let instruction = self.instructions.get_mut(at)?;
            let mut bytes = instruction.to_ne_bytes();
            bytes[2..4].copy_from_slice(&distance.to_ne_bytes());
            *instruction = u64::from_ne_bytes(bytes);
        }
        Some(self.instructions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(instruction: u64) -> [u8; 8] {
        instruction.to_ne_bytes()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn instructions_are_as_the_standard_has_them() {
        let mut program = Assembly::new();
        let end = program.label();
        program.set(R6, R1);
        program.load(Width::Word, R1, R6, 4);
        program.jump_if(R1, Condition::Equal, 7, end);
        program.store(Width::Byte, FRAME, -1, 5);
        program.place(end);
        program.exit();
        let program = program.finish().unwrap();
        assert_eq!(bytes(program[0]), [0xbf, 0x16, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes(program[1]), [0x61, 0x61, 4, 0, 0, 0, 0, 0]);
        assert_eq!(bytes(program[2]), [0x15, 0x01, 1, 0, 7, 0, 0, 0]);
        assert_eq!(bytes(program[3]), [0x72, 0x0a, 0xff, 0xff, 5, 0, 0, 0]);
        assert_eq!(bytes(program[4]), [0x95, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_label_that_stands_nowhere_is_an_error() {
        let mut program = Assembly::new();
        let nowhere = program.label();
        program.jump(nowhere);
        assert!(program.finish().is_none());
    }
}
