#!/usr/bin/env perl
# digits_to_tar.pl IMAGES LABELS OUTPUT: a pair of IDX files of bytes as a tar shard in the WebDataset manner, each
# sample's members N.cls (decimal) and N.image.npy.
use strict;
use warnings;

sub slurp {
  my ($path) = @_;
  open(my $file, '<:raw', $path) or die "$path: $!\n";
  local $/;
  return <$file>;
}

sub member {
  my ($name, $bytes) = @_;
  my $header = pack('a100 a8 a8 a8 a12 a12 A8 a1 a100 a6 a2 a32 a32 a8 a8 a155 a12', $name, '0000644', '0000000',
    '0000000', sprintf('%011o', length $bytes), '00000000000', '', '0', '', 'ustar', '00', '', '', '', '', '', '');
  substr($header, 148, 8) = sprintf("%06o\0 ", unpack('%32C*', $header));
  return $header . $bytes . "\0" x (-length($bytes) % 512);
}

my ($images, $labels) = (slurp($ARGV[0]), slurp($ARGV[1]));
my ($magic, $count, $rows, $columns) = unpack('N4', $images);
die "$ARGV[0]: no IDX file of bytes in three dimensions\n" unless $magic == 0x803;
my $dictionary = "{'descr': '|u1', 'fortran_order': False, 'shape': ($rows, $columns), }";
$dictionary .= ' ' x (63 - (10 + length $dictionary) % 64) . "\n";
my $header = "\x93NUMPY\x01\x00" . pack('v', length $dictionary) . $dictionary;
open(my $out, '>:raw', $ARGV[2]) or die "$ARGV[2]: $!\n";
for my $i (0 .. $count - 1) {
  print $out member(sprintf('%06d.cls', $i), ord substr($labels, 8 + $i, 1));
  print $out member(sprintf('%06d.image.npy', $i), $header . substr($images, 16 + $i * $rows * $columns, $rows * $columns));
}
print $out "\0" x 1024;
close($out) or die "$ARGV[2]: $!\n";
