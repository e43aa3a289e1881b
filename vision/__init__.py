"""A photo becomes a `companion.reading.Reading`: load, locate, rectify, classify, arrange."""

from vision import _cv2 as _cv2  # first of all: says what to install where OpenCV cannot load
