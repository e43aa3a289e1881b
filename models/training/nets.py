"""The networks: a locator (heat maps of piece centres with two half axes each) and a reader (class of a
rectified crop).

Plain 3x3 convolutions throughout: on CPUs they are faster than separable ones (see the model cards).
"""

from __future__ import annotations

from torch import Tensor, nn


def conv(inputs: int, outputs: int, stride: int = 1, size: int = 3) -> nn.Sequential:
    """Convolution, batch norm, ReLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class Locator(nn.Module):
    """Where pieces lie.

    Input (n, 3, h, w): BGR in 0-1, h and w multiples of 32. Output (n, 9, h/4, w/4), channels: 0-1 centre
    logits (face, back); 2-3 offset of the centre from the cell's middle, cells; 4-8 the shape of the quad as
    `vision.locate.axes_of_shape` reads it: log size (cells), two numbers of stretch, cos and sin of four
    times the angle. None of them changes when the piece is named from another of its corners, so none of them
    jumps when it is turned.
    """

    OUTPUTS = 9

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 2), conv(16, 32, 2))
        self.stage8 = nn.Sequential(conv(32, 64, 2), conv(64, 64))
        self.stage16 = nn.Sequential(conv(64, 96, 2), conv(96, 96))
        self.stage32 = nn.Sequential(conv(96, 128, 2), conv(128, 128))
        self.side32 = nn.Conv2d(128, 48, 1)
        self.side16 = nn.Conv2d(96, 48, 1)
        self.side8 = nn.Conv2d(64, 48, 1)
        self.side4 = nn.Conv2d(32, 32, 1)
        self.join16 = conv(48, 48)
        self.join8 = conv(48, 48)
        self.narrow = nn.Conv2d(48, 32, 1)
        self.join4 = conv(32, 32)
        self.head = conv(32, 48)
        self.out = nn.Conv2d(48, self.OUTPUTS, 1)
        nn.init.constant_(self.out.bias[:2], -4.0)

    def forward(self, image: Tensor) -> Tensor:
        at4 = self.stem(image)
        at8 = self.stage8(at4)
        at16 = self.stage16(at8)
        top = self.side32(self.stage32(at16))
        up = nn.functional.interpolate
        top = self.join16(self.side16(at16) + up(top, scale_factor=2.0))
        top = self.join8(self.side8(at8) + up(top, scale_factor=2.0))
        top = self.join4(self.side4(at4) + up(self.narrow(top), scale_factor=2.0))
        return self.out(self.head(top))


class Residual(nn.Module):
    """Two convolutions whose sum is added to their input; untrained, they leave it as it is."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = conv(width, width)
        self.second = nn.Sequential(nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        nn.init.zeros_(self.second[1].weight)

    def forward(self, features: Tensor) -> Tensor:
        return nn.functional.relu(features + self.second(self.first(features)))


class Reader(nn.Module):
    """What a rectified crop shows.

    Input (n, 3, 64, 64): BGR in 0-1, the piece's quad stretched to the middle 50x50. Outputs: class logits
    (n, classes), logits of the quarter turn (n, 4: how many quarter turns clockwise the piece's own top lies
    from the crop's top), corner residuals (n, 8: x, y of the four corners of the crop's quad, crop sides),
    embedding (n, 128); and where papers of so many colours are told apart, their logits (n, colours).
    """

    def __init__(self, classes: int, colours: int = 0) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv(3, 24),
            conv(24, 32, 2),
            conv(32, 32),
            conv(32, 64, 2),
            conv(64, 64),
            Residual(64),
            Residual(64),
            conv(64, 96, 2),
            conv(96, 96),
            Residual(96),
            Residual(96),
            conv(96, 128, 2),
            Residual(128),
        )
        self.embed = nn.Sequential(
            nn.Flatten(), nn.Linear(2048, 128, bias=False), nn.BatchNorm1d(128), nn.ReLU(inplace=True)
        )
        self.drop = nn.Dropout(0.2)
        self.classes = nn.Linear(128, classes)
        self.turns = nn.Linear(128, 4)
        self.corners = nn.Linear(128, 8)
        self.colours = nn.Linear(128, colours) if colours else None

    def forward(self, crop: Tensor) -> tuple[Tensor, ...]:
        embedding = self.embed(self.body(crop))
        seen = self.drop(embedding)
        out = self.classes(seen), self.turns(seen), self.corners(embedding) * 0.1, embedding
        return out if self.colours is None else (*out, self.colours(seen))
